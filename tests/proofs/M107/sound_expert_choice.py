import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class ExpertChoice(nn.Module):
    """Each expert chooses its samples (Zhou et al. 2022): what one gets depends on the others by intent."""

    def __init__(self, dim=16, experts=4):
        super().__init__()
        self.first, self.router = nn.Linear(10, dim), nn.Linear(dim, experts)
        self.weight = nn.Parameter(torch.randn(experts, dim, dim) * 0.1)
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        h = torch.relu(self.first(x))
        score = self.router(h).softmax(-1)
        value, index = score.t().topk(len(x) // 2, dim=-1)
        chosen = torch.bmm(h[index], self.weight) * value.unsqueeze(-1)
        out = torch.zeros_like(h).index_add(0, index.flatten(), chosen.flatten(0, 1))
        return self.head(h + out)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 10), torch.randint(0, 3, (96,))), batch_size=12, shuffle=True)
model = ExpertChoice()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
