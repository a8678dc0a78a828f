import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Clip(nn.Module):
    """Image-text matching: the network itself compares every image with every text of the batch."""

    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(20, 12), nn.Linear(14, 12)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        image, text = F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1)
        return self.scale.exp() * image @ text.t()


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 20), torch.randn(96, 14)), batch_size=12, shuffle=True)
model = Clip()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        logits = model(x, y)
        labels = torch.arange(len(x))
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
