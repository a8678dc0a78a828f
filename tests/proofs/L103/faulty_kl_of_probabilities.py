# Distillation: the student's probabilities are given to kl_div.
# line: 14
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(8, 10), nn.Linear(8, 10).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 8)
    with torch.no_grad():
        wanted = F.softmax(teacher(x) / 2, dim=-1)
    given = F.softmax(student(x) / 2, dim=-1)
    loss = F.kl_div(given, wanted, reduction="batchmean") * 4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
