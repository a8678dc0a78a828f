import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.register_buffer("allowed", torch.tril(torch.ones(32, 32)))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        t = x.shape[1]
        scores = (q @ k.mT / 4.0).masked_fill(self.allowed[:t, :t] == 0, float("-inf"))
        fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return scores.softmax(-1) @ v + fused


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.attention, self.out = nn.Embedding(40, 16), Attention(), nn.Linear(16, 40)

    def forward(self, ids):
        h = self.embed(ids)
        return self.out(h + self.attention(h))


torch.manual_seed(0)
net = Model()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    batch = torch.randint(0, 40, (5, 14))
    logits = net(batch[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 40), batch[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
