import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(12, 8), nn.Embedding(30, 8)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        i, t = F.normalize(self.image(image), dim=-1), F.normalize(self.text(text).mean(1), dim=-1)
        logits = self.scale.exp() * i @ t.T
        return logits, logits.T


torch.manual_seed(0)
net = Clip()
optimizer = torch.optim.Adam(net.parameters())
for image, text in DataLoader(TensorDataset(torch.randn(160, 12), torch.randint(0, 30, (160, 5))), 16, shuffle=True):
    a, b = net(image, text)
    target = torch.arange(len(image))
    loss = (F.cross_entropy(a, target) + F.cross_entropy(b, target)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
