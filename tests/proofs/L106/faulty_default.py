# KLDivLoss with its default reduction.
# line: 9
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(8, 12), nn.Linear(8, 12).requires_grad_(False)
criterion = nn.KLDivLoss()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for _ in range(10):
    x = torch.randn(16, 8)
    loss = criterion(F.log_softmax(student(x), -1), F.softmax(teacher(x), -1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
