import torch
import torch.nn as nn
import torch.nn.functional as F


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place, self.head = nn.Embedding(30, 16), nn.Embedding(12, 16), nn.Linear(16, 30)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids) + self.place(torch.arange(ids.shape[1]))))


torch.manual_seed(0)
model = Bert()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(1, 30, (6, 12))
    hidden = torch.rand(6, 12) < 0.3
    labels = ids.masked_fill(~hidden, -100)
    loss = F.cross_entropy(model(ids.masked_fill(hidden, 0)).transpose(1, 2), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
