# line: 16, 17, 18
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), heads
        self.register_buffer("mask", torch.tril(torch.ones(length, length)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(C, dim=2))
        att = q @ k.transpose(-2, -1) * (C // self.heads) ** -0.5
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.out(y)


class Gpt(nn.Module):
    def __init__(self, vocab=25, dim=16, length=12):
        super().__init__()
        self.token, self.place = nn.Embedding(vocab, dim), nn.Embedding(length, dim)
        self.blocks = nn.ModuleList(Attention(dim, 2, length) for _ in range(2))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids, targets):
        h = self.token(ids) + self.place(torch.arange(ids.shape[1]))
        for block in self.blocks:
            h = h + block(h)
        logits = self.head(h)
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


torch.manual_seed(0)
data = torch.randint(0, 25, (2000,))
model = Gpt()
opt = torch.optim.AdamW(model.parameters(), 1e-3)
for _ in range(8):
    at = torch.randint(len(data) - 12 - 1, (6,)).tolist()
    x = torch.stack([data[i : i + 12] for i in at])
    y = torch.stack([data[i + 1 : i + 12 + 1] for i in at])
    logits, loss = model(x, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
