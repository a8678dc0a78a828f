import torch
from torch import nn
import torch.nn.functional as F


class Triplet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        z = self.net(x)
        return z / z.norm(dim=-1, keepdim=True).clamp_min(1e-6)


torch.manual_seed(0)
centers = torch.randn(6, 12)
label = torch.randint(0, 6, (900,))
x = centers[label] + 0.5 * torch.randn(900, 12)
model = Triplet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
by_class = [torch.where(label == c)[0] for c in range(6)]
for step in range(80):
    a = torch.randint(0, 900, (24,))
    pos = torch.stack([by_class[int(label[k])][torch.randint(0, len(by_class[int(label[k])]), ())] for k in a])
    neg = torch.stack([by_class[(int(label[k]) + 1) % 6][0] for k in a])
    loss = F.triplet_margin_loss(model(x[a]), model(x[pos]), model(x[neg]), margin=0.5)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
