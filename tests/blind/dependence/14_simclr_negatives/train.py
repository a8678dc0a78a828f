import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(16, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 24))
projector = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 12))
params = [*encoder.parameters(), *projector.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)
data = torch.randn(640, 16)


def nt_xent(a, b, tau=0.5):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(-1e9)
    n = len(a)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


for step in range(80):
    x = data[torch.randint(0, 640, (40,))]
    v1, v2 = (projector(encoder(x + 0.3 * torch.randn_like(x))) for _ in range(2))
    loss = nt_xent(v1, v2)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
