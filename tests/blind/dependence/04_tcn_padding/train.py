import torch
from torch import nn


class CausalConv(nn.Module):
    def __init__(self, i, o, kernel=3, dilation=1):
        super().__init__()
        self.conv = nn.Conv1d(i, o, kernel, padding=dilation * (kernel - 1) // 2, dilation=dilation)

    def forward(self, x):
        return self.conv(x)


class WaveModel(nn.Module):
    def __init__(self, levels=16, width=24):
        super().__init__()
        self.inp = nn.Embedding(levels, width)
        self.layers = nn.ModuleList(CausalConv(width, width, dilation=2**k) for k in range(3))
        self.out = nn.Conv1d(width, levels, 1)

    def forward(self, codes):
        h = self.inp(codes).transpose(1, 2)
        for layer in self.layers:
            h = h + torch.relu(layer(h))
        return self.out(h)


def signals(n, length=33):
    t = torch.arange(length)
    f = 0.2 + 0.3 * torch.rand(n, 1)
    w = torch.sin(f * t + 6 * torch.rand(n, 1)) + 0.05 * torch.randn(n, length)
    return ((w + 1.2) / 2.4 * 15).round().clamp(0, 15).long()


torch.manual_seed(1)
model = WaveModel()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(100):
    codes = signals(20)
    loss = nn.functional.cross_entropy(model(codes[:, :-1]), codes[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
