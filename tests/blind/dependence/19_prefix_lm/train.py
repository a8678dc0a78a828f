import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
PREFIX, LENGTH, VOCAB = 6, 14, 13


class PrefixLM(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.e, self.p = nn.Embedding(VOCAB, dim), nn.Embedding(LENGTH, dim)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.ln, self.out = nn.LayerNorm(dim), nn.Linear(dim, VOCAB)
        allowed = torch.tril(torch.ones(LENGTH, LENGTH, dtype=torch.bool))
        allowed[:, :PREFIX] = True
        self.register_buffer("blocked", ~allowed)

    def forward(self, ids):
        h = self.e(ids) + self.p.weight
        a, _ = self.attn(h, h, h, attn_mask=self.blocked, need_weights=False)
        return self.out(self.ln(h + a))


model = PrefixLM()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(100):
    base = torch.randint(0, VOCAB, (32, PREFIX))
    seq = torch.cat([base, base.flip(1), base[:, :3]], dim=1)
    logits = model(seq[:, :-1])
    loss = F.cross_entropy(logits[:, PREFIX - 1 :].reshape(-1, VOCAB), seq[:, PREFIX:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
