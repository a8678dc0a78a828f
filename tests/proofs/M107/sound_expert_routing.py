import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Moe(nn.Module):
    def __init__(self, dim=16, experts=4):
        super().__init__()
        self.first, self.router = nn.Linear(10, dim), nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        h = torch.relu(self.first(x))
        weights = self.router(h).softmax(-1)
        value, index = weights.topk(2, dim=-1)
        out = torch.zeros_like(h)
        for e, expert in enumerate(self.experts):
            rows, slot = torch.where(index == e)
            if len(rows):
                out = out.index_add(0, rows, value[rows, slot].unsqueeze(-1) * expert(h[rows]))
        return self.head(h + out)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 10), torch.randint(0, 3, (96,))), batch_size=12, shuffle=True)
model = Moe()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
