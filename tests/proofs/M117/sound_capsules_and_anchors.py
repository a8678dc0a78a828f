import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.primary, self.anchors = nn.Conv2d(3, 32, 3, 2), nn.Conv2d(32, 3 * 7, 1)
        self.route, self.head = nn.Linear(8, 4), nn.Linear(4 + 7, 3)

    def forward(self, x):
        h = self.primary(x)
        B, C, H, W = h.shape
        capsules = h.view(B, -1, 8)
        boxes = self.anchors(h).view(B, 3, 7, H, W).permute(0, 1, 3, 4, 2).reshape(B, -1, 7)
        return self.head(torch.cat([self.route(capsules).mean(1), boxes.mean(1)], 1))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 3, 13, 13), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
