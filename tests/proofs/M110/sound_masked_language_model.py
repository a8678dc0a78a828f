import torch
from torch import nn


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(31, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder, self.out = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(16, 31)

    def forward(self, ids):
        return self.out(self.encoder(self.embed(ids)))


torch.manual_seed(0)
net = Bert()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(0, 30, (8, 20))
    hidden = torch.rand(8, 20) < 0.3
    labels = ids.masked_fill(~hidden, -100)
    logits = net(ids.masked_fill(hidden, 30))
    loss = nn.functional.cross_entropy(logits.view(-1, 31), labels.view(-1), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
