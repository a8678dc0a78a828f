# Several students start from a fixed teacher, each with an optimizer of its own; a rewound model starts anew.
import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
teacher = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).eval()
for p in teacher.parameters():
    p.requires_grad_(False)
initial = nn.Linear(4, 2)
student, model = copy.deepcopy(teacher).requires_grad_(), copy.deepcopy(initial)
for trial in range(5):
    student.load_state_dict(teacher.state_dict())
    model.load_state_dict(initial.state_dict())
    optimizer = torch.optim.SGD([*student.parameters(), *model.parameters()], lr=0.01 * (trial + 1))
    for step in range(10):
        with torch.no_grad():
            goal = teacher(x)
        noisy = x + 0.1 * torch.randn_like(x)
        loss = nn.functional.mse_loss(student(noisy), goal) + nn.functional.mse_loss(model(noisy), goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"trial {trial} loss {loss.item():.4f}")
