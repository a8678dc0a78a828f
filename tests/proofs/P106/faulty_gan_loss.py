# line: 15, 16
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
judge = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
g_step, d_step = (torch.optim.Adam(m.parameters(), lr=1e-3) for m in (generator, judge))
bce = nn.BCELoss()
for _ in range(8):
    real = torch.randn(32, 2) * 0.5 + 1
    d_step.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        fake = generator(torch.randn(32, 4))
        d_loss = bce(judge(real), torch.ones(32, 1).bfloat16())
        d_loss = d_loss + bce(judge(fake.detach()), torch.zeros(32, 1).bfloat16())
    d_loss.backward()
    d_step.step()
    g_step.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        g_loss = nn.functional.softplus(-judge(fake)).mean()
    g_loss.backward()
    g_step.step()
