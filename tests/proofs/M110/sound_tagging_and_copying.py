import torch
from torch import nn


class Copy(nn.Module):
    """An autoencoder of sequences: all of the input is there to be given back."""

    def __init__(self):
        super().__init__()
        self.embed, self.read = nn.Embedding(20, 12), nn.LSTM(12, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, 20)

    def forward(self, ids):
        return self.out(self.read(self.embed(ids))[0])


torch.manual_seed(0)
net = Copy()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(0, 20, (6, 15))
    loss = nn.functional.cross_entropy(net(ids).transpose(1, 2), ids)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
