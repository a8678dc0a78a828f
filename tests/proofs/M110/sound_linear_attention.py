import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Causal linear attention by running sums, and a mean over what has been."""

    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.head = nn.Embedding(25, 16), nn.Linear(16, 48), nn.Linear(16, 25)

    def forward(self, ids):
        h = self.embed(ids)
        q, k, v = self.qkv(h).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state = torch.einsum("btd,bte->btde", k, v).cumsum(1)
        out = torch.einsum("btd,btde->bte", q, state) / torch.einsum("btd,btd->bt", q, k.cumsum(1)).unsqueeze(-1)
        so_far = h.cumsum(1) / torch.arange(1, ids.shape[1] + 1)[:, None]
        return self.head(out + so_far)


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (6, 14))
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
