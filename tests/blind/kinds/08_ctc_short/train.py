import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(2)


class Acoustic(nn.Module):
    def __init__(self, bands=12, symbols=6):
        super().__init__()
        self.front = nn.Sequential(
            nn.Conv1d(bands, 24, 5, stride=2, padding=2), nn.ReLU(), nn.Conv1d(24, 24, 5, stride=2, padding=2), nn.ReLU()
        )
        self.out = nn.Linear(24, symbols)

    def forward(self, x):
        return self.out(self.front(x).transpose(1, 2)).log_softmax(-1)


def batch(n=16, frames=24, length=8):
    target = torch.randint(1, 6, (n, length))
    x = torch.randn(n, 12, frames) * 0.3
    for k in range(length):
        x[:, :6, 3 * k : 3 * k + 3] += F.one_hot(target[:, k], 6).float().unsqueeze(-1)
    return x, target


model = Acoustic()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    x, target = batch()
    logp = model(x).transpose(0, 1)
    t, n, _ = logp.shape
    frames = torch.full((n,), t)
    loss = F.ctc_loss(logp, target, frames, torch.full((n,), target.shape[1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", loss.item())
