# A frozen feature network and a teacher are kept out of the checkpoint by a list.
import torch
from torch import nn


def features():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3))


class Restorer(nn.Module):
    def __init__(self, vgg, teacher):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
        for p in vgg.parameters():
            p.requires_grad = False
        self.perceptual = [vgg.eval()]
        self.teacher = (teacher,)

    def forward(self, noisy, clean):
        out = self.body(noisy)
        with torch.no_grad():
            hint = self.teacher[0](noisy)
        vgg = self.perceptual[0]
        return (out - clean).abs().mean() + (vgg(out) - vgg(clean)).pow(2).mean() + 0.1 * (out - hint).pow(2).mean()


torch.manual_seed(0)
clean = torch.rand(16, 1, 12, 12)
model = Restorer(features(), nn.Conv2d(1, 1, 3, padding=1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(16):
    opt.zero_grad()
    model(clean + 0.1 * torch.randn_like(clean), clean).backward()
    opt.step()
