import torch
from torch import nn


class Reader(nn.Module):
    """Sequences of one length, in which the padding index happens to be a word, and a class token is in front."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder, self.out = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(16, 2)

    def forward(self, ids):
        return self.out(self.encoder(self.embed(ids))[:, 0])


torch.manual_seed(0)
net = Reader()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(0, 5, (16, 10))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(ids), torch.randint(0, 2, (16,))).backward()
    optimizer.step()
