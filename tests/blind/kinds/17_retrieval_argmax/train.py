import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


def tower(i):
    return nn.Sequential(nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, 16))


audio, text = tower(10), tower(8)
opt = torch.optim.Adam([*audio.parameters(), *text.parameters()], lr=3e-3)
z = torch.randn(512, 5)
a, t = z @ torch.randn(5, 10) + 0.1 * torch.randn(512, 10), z @ torch.randn(5, 8) + 0.1 * torch.randn(512, 8)
for step in range(100):
    i = torch.randperm(448)[:32]
    sim = F.normalize(audio(a[i]), dim=1) @ F.normalize(text(t[i]), dim=1).T / 0.1
    target = torch.arange(32)
    loss = (F.cross_entropy(sim, target) + F.cross_entropy(sim.T, target)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    sim = F.normalize(audio(a[448:]), dim=1) @ F.normalize(text(t[448:]), dim=1).T
    target = torch.arange(64)
    print("a2t", (sim.argmax(1) == target).float().mean().item(), "t2a", (sim.argmax(0) == target).float().mean().item())
