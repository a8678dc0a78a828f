import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Sorted(nn.Module):
    """Levels sorted from high to low: zero is a level, not padding."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(6, 16), nn.Linear(16, 3)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def forward(self, levels):
        return self.head(self.layer(self.embed(levels)).mean(1))


model = Sorted()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    levels = torch.randint(0, 6, (8, 12)).sort(1, descending=True).values
    loss = F.cross_entropy(model(levels), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
