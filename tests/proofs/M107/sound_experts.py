import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(10, 4)
        self.experts = nn.ModuleList(nn.Linear(10, 10) for _ in range(4))
        self.out = nn.Linear(10, 1)

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).topk(2, dim=-1)
        mixed = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            row, slot = (chosen == i).nonzero(as_tuple=True)
            mixed = mixed.index_add(0, row, weight[row, slot, None] * expert(x[row]))
        return self.out(mixed)


torch.manual_seed(0)
net = Experts()
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(256, 10), torch.randn(256, 1)), 32, shuffle=True):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
