# line: 15, 16
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(25, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(16, 25)

    def forward(self, ids):
        t = ids.shape[1]
        mask = torch.triu(torch.full((t, t), float("-inf")), diagonal=2)
        return self.out(self.layer(self.embed(ids), src_mask=mask))


torch.manual_seed(0)
net = Decoder()
optimizer = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss()
for step in range(8):
    song = torch.randint(0, 25, (7, 13))
    optimizer.zero_grad()
    logits = net(song[:, :-1])
    criterion(logits.flatten(0, 1), song[:, 1:].flatten()).backward()
    optimizer.step()
