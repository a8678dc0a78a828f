import torch
import torch.nn as nn
import torch.nn.functional as F


class ProtoNet(nn.Module):
    """Few-shot learning: queries are compared with class means of the support."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x, ways, shots):
        h = self.encoder(x)
        support, query = h[: ways * shots], h[ways * shots :]
        prototypes = support.view(ways, shots, -1).mean(1)
        return -torch.cdist(query, prototypes)


torch.manual_seed(0)
model = ProtoNet()
labels = torch.arange(3).repeat_interleave(5)
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    loss = F.cross_entropy(model(torch.randn(12 + 15, 10), 3, 4), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
