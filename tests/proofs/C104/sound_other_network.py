# A state taken before training is loaded into another network at once; a frozen teacher keeps its own.
import torch
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(3, 2), nn.Linear(3, 2)
start = teacher.state_dict()
student.load_state_dict(start)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.mse_loss(student(torch.randn(8, 3)), torch.randn(8, 2)).backward()
    optimizer.step()
student.load_state_dict(start)
