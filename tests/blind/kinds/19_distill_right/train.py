import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)
teacher = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 5)).eval().requires_grad_(False)
student = nn.Sequential(nn.Linear(8, 10), nn.ReLU(), nn.Linear(10, 5))
opt = torch.optim.SGD(student.parameters(), lr=0.2)
kl = nn.KLDivLoss(reduction="batchmean", log_target=True)
for step in range(100):
    x = torch.randn(64, 8)
    goal = F.log_softmax(teacher(x), dim=1)
    loss = kl(F.log_softmax(student(x), dim=1), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
