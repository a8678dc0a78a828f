import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

gate, ex, out = nn.Linear(6, 3), nn.ModuleList(nn.Linear(6, 6) for _ in range(3)), nn.Linear(6, 2)
opt = torch.optim.SGD([*gate.parameters(), *ex.parameters(), *out.parameters()], 0.1)
for _ in range(8):
    x, y = torch.randn(12, 6), torch.randint(0, 2, (12,))
    g = gate(x)
    w = g.softmax(-1)
    cap = g.softmax(0).topk(4, 0).values.sum(0)
    h = sum(w[:, i : i + 1] * e(x) for i, e in enumerate(ex))
    loss = F.cross_entropy(out(h), y) + 0.01 * cap.var()
    opt.zero_grad()
    loss.backward()
    opt.step()
