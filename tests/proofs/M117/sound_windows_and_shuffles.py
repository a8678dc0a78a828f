import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def windows(x, size):
    B, H, W, C = x.shape
    x = x.view(B, H // size, size, W // size, size, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, C)


def back(x, size, H, W):
    B = len(x) // (H * W // size**2)
    x = x.view(B, H // size, W // size, size, size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, -1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.mix = nn.Conv2d(3, 16, 3, padding=1, groups=1), nn.MultiheadAttention(16, 2, batch_first=True)
        self.merge, self.up, self.head = nn.Linear(64, 32), nn.Conv2d(32, 16, 1, groups=4), nn.Linear(4, 3)

    def forward(self, x):
        h = self.conv(x)
        B, C, H, W = h.shape
        h = h.view(B, 4, C // 4, H, W).transpose(1, 2).reshape(B, C, H, W)
        h = h.permute(0, 2, 3, 1)
        w = windows(h, 4)
        h = h + back(self.mix(w, w, w)[0], 4, H, W)
        h = torch.cat([h[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], -1).view(B, -1, 4 * C)
        h = self.merge(h).transpose(1, 2).reshape(B, -1, H // 2, W // 2)
        return self.head(F.pixel_shuffle(self.up(h), 2).mean((2, 3)))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 3, 16, 16), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
