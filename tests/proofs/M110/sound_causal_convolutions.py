import torch
import torch.nn as nn
import torch.nn.functional as F


class Causal(nn.Conv1d):
    def forward(self, x):
        return super().forward(F.pad(x, ((self.kernel_size[0] - 1) * self.dilation[0], 0)))


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(25, 16), nn.Conv1d(16, 25, 1)
        self.layers = nn.ModuleList(Causal(16, 32, 2, dilation=2**i) for i in range(3))

    def forward(self, ids):
        h = self.embed(ids).transpose(1, 2)
        for layer in self.layers:
            a, b = layer(h).chunk(2, 1)
            h = h + torch.tanh(a) * torch.sigmoid(b)
        return self.head(h)


torch.manual_seed(0)
model = WaveNet()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (6, 14))
    loss = F.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
