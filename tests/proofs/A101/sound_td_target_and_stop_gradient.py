# Detached targets, stop-gradient, numbers only for printing.
import torch
from torch import nn


class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6))
        self.predictor = nn.Linear(6, 6)

    def forward(self, a, b):
        za, zb = self.encoder(a), self.encoder(b)
        cos = nn.functional.cosine_similarity
        return -(cos(self.predictor(za), zb.detach()).mean() + cos(self.predictor(zb), za.detach()).mean())


torch.manual_seed(0)
model, q = SimSiam(), nn.Linear(6, 2)
opt = torch.optim.Adam([*model.parameters(), *q.parameters()], lr=1e-2)
history = []
for step in range(20):
    x = torch.randn(32, 6)
    values = q(x)
    target = x[:, 0] + 0.9 * q(x.roll(1, 0)).max(1).values.detach()
    td = nn.functional.mse_loss(values[:, 0], target)
    loss = model(x + 0.1 * torch.randn_like(x), x) + td * (1 / (1 + td.item()))
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append((loss.item(), values.argmax(1).float().mean().item(), values.detach().numpy().sum()))
