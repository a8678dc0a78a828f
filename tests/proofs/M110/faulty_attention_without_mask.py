# line: 14, 15
import torch
import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        scores = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        return F.softmax(scores, dim=-1) @ v


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(30, 16), nn.Embedding(12, 16)
        self.head, self.out = Head(16), nn.Linear(16, 30)

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        logits = self.out(x + self.head(x))
        return logits, F.cross_entropy(logits.view(-1, 30), targets.view(-1))


torch.manual_seed(0)
text = torch.randint(0, 30, (1000,))
net = LanguageModel()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(10):
    starts = torch.randint(0, 980, (8,)).tolist()
    x, y = torch.stack([text[i : i + 12] for i in starts]), torch.stack([text[i + 1 : i + 13] for i in starts])
    logits, loss = net(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
