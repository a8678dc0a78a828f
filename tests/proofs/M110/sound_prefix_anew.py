import torch
import torch.nn as nn
import torch.nn.functional as F


class PrefixModel(nn.Module):
    """Reads its prefix in both directions and predicts only what follows."""

    def __init__(self):
        super().__init__()
        self.embed, self.place, self.head = nn.Embedding(30, 16), nn.Embedding(16, 16), nn.Linear(16, 30)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def forward(self, ids, prefix):
        n = ids.shape[1]
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
        hidden[:, :prefix] = False
        return self.head(self.layer(self.embed(ids) + self.place(torch.arange(n)), hidden))


torch.manual_seed(0)
model = PrefixModel()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 30, (6, 15))
    labels = ids[:, 1:].clone()
    labels[:, :5] = -100
    loss = F.cross_entropy(model(ids[:, :-1], 6).flatten(0, 1), labels.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
