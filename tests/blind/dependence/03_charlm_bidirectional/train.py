import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = "the quick brown fox jumps over the lazy dog and runs away from the angry bear " * 20
chars = sorted(set(TEXT))
data = torch.tensor([chars.index(c) for c in TEXT])


class CharLM(nn.Module):
    def __init__(self, n, dim=24):
        super().__init__()
        self.embed = nn.Embedding(n, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * dim, n)

    def forward(self, x):
        y, _ = self.lstm(self.embed(x))
        return self.head(y)


def get_batch(size=16, block=24):
    start = torch.randint(0, len(data) - block - 1, (size,))
    x = torch.stack([data[s : s + block] for s in start])
    y = torch.stack([data[s + 1 : s + block + 1] for s in start])
    return x, y


torch.manual_seed(0)
model = CharLM(len(chars))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for it in range(100):
    x, y = get_batch()
    logits = model(x)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 25 == 24:
        print(it, loss.item())
