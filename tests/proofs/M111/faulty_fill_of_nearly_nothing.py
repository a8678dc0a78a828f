# The score written at padding has lost the sign of its exponent.
# line: 20, 24
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

HIDDEN = -1e-7


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ask, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, h, real):
        scores = torch.matmul(self.ask(h), self.key(h).transpose(1, 2)) / 4.0
        return torch.matmul(self.weights(scores, real), self.value(h))

    def weights(self, scores, real):
        return nn.functional.softmax(self.hide(scores, real), dim=2)

    def hide(self, scores, real):
        padding = ~real
        return torch.where(real[:, None, :], scores, HIDDEN) if padding.any() else scores


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.attention, self.out = nn.Embedding(20, 16, padding_idx=0), Attention(16), nn.Linear(16, 3)

    def forward(self, ids):
        real = ids != 0
        h = self.attention(self.embed(ids), real) * real[:, :, None]
        return self.out(h.sum(1) / real.sum(1, keepdim=True))


torch.manual_seed(0)
reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-3)
for _ in range(8):
    ids = pad_sequence([torch.randint(1, 20, (n,)) for n in torch.randint(3, 14, (12,)).tolist()], batch_first=True)
    optimizer.zero_grad()
    nn.functional.cross_entropy(reader(ids), torch.randint(0, 3, (12,))).backward()
    optimizer.step()
