# A trainer class: scaled_dot_product_attention with a constant dropout_p in a block of the model.
# line: 19
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, drop):
        super().__init__()
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.drop = heads, drop

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (
            t.view(batch, time, self.heads, width // self.heads).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1)
        )
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.drop)
        return self.proj(y.transpose(1, 2).reshape(batch, time, width))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.head = Attention(16, 2, 0.2), nn.Linear(16, 3)

    def forward(self, x):
        return self.head((x + self.attention(x)).mean(dim=1))


class Trainer:
    def __init__(self):
        self.model = Model()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def fit(self, x, y):
        self.model.train()
        for _ in range(4):
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.inference_mode()
    def score(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(0)
x, y = torch.randn(32, 6, 16), torch.randint(0, 3, (32,))
trainer = Trainer()
trainer.fit(x, y)
print(trainer.score(x, y))
