# line: 18
# source: silent, the function that pads is given to the loader
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.out = nn.Linear(16, 2)

    def forward(self, ids):
        h = self.embed(ids)
        mixed, _ = self.attention(h, h, h, need_weights=False)
        real = (ids != 0).unsqueeze(-1)
        return self.out((mixed * real).sum(1) / real.sum(1))


def collate(items):
    return pad_sequence([x for x, _ in items], batch_first=True), torch.tensor([y for _, y in items])


torch.manual_seed(0)
items = [(torch.randint(1, 30, (n,)), n % 2) for n in torch.randint(3, 15, (128,)).tolist()]
net = Reader()
optimizer = torch.optim.Adam(net.parameters())
for ids, y in DataLoader(items, 16, shuffle=True, collate_fn=collate):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(ids), y).backward()
    optimizer.step()
