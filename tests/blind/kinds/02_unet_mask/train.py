import torch
from torch import nn
from torch.nn import functional as F


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.mid = block(1, 8), block(8, 16)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.up(self.mid(F.max_pool2d(a, 2)))
        mask = self.out(torch.cat([a, b], dim=1))
        return torch.sigmoid(mask)


def blobs(n):
    yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    c = torch.rand(n, 2, 1, 1) * 10 + 3
    m = (((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) < 9).float().unsqueeze(1)
    return m + 0.4 * torch.randn(n, 1, 16, 16), m


torch.manual_seed(3)
net = TinyUNet()
opt = torch.optim.Adam(net.parameters(), 2e-3)
bce = nn.BCEWithLogitsLoss()
images, masks = blobs(256)
for step in range(60):
    i = torch.randint(0, 256, (16,))
    loss = bce(net(images[i]), masks[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
