import torch
from torch import nn

torch.manual_seed(0)
n = 120
groups = torch.randint(0, 3, (n,))
adjacency = (torch.rand(n, n) < torch.where(groups[:, None] == groups[None], 0.15, 0.02)).float()
adjacency = ((adjacency + adjacency.T + torch.eye(n)) > 0).float()
norm = adjacency / adjacency.sum(1, keepdim=True)
features = torch.randn(n, 8) + nn.functional.one_hot(groups, 8).float()


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x, adj):
        return self.b(adj @ torch.relu(self.a(adj @ x)))


known = torch.rand(n) < 0.5
model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
for epoch in range(100):
    model.train()
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(features, norm)[known], groups[known])
    loss.backward()
    opt.step()
model.eval()
with torch.no_grad():
    print((model(features, norm).argmax(1) == groups)[~known].float().mean().item())
