# line: 25, 48
# source: silent, which side is padded depends on an argument
import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(30, 16), nn.Linear(16, 48), nn.Linear(16, 30)

    def forward(self, ids, attention_mask=None):
        t = ids.shape[1]
        allowed = torch.ones(t, t, dtype=torch.bool).tril()[None]
        if attention_mask is not None:
            allowed = allowed & attention_mask[:, None, :].bool() | torch.eye(t, dtype=torch.bool)
        h = self.embed(ids)
        q, k, v = self.qkv(h).chunk(3, -1)
        return self.out(h + F.scaled_dot_product_attention(q, k, v, attn_mask=allowed))

    @torch.no_grad()
    def generate(self, ids, mask=None, steps=3):
        for _ in range(steps):
            following = self(ids, mask)[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, following], 1)
            if mask is not None:
                mask = torch.cat([mask, torch.ones_like(following)], 1)
        return ids


def padded(lengths, width, front):
    real = torch.arange(width)[None] < torch.tensor(lengths)[:, None]
    mask = (real.flip(1) if front else real).long()
    return torch.randint(1, 30, (len(lengths), width)) * mask, mask


torch.manual_seed(0)
net = Model()
optimizer = torch.optim.Adam(net.parameters())
for step in range(6):
    ids, mask = padded([12, 7, 9, 5], 12, front=False)
    loss = F.cross_entropy(net(ids, mask)[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
prompts, mask = padded([8, 3, 6], 8, front=True)
net.generate(prompts)
