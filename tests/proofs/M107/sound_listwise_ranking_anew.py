import torch
import torch.nn as nn
import torch.nn.functional as F


class Ranker(nn.Module):
    """Scores the candidates of one query; the softmax over them is the model."""

    def __init__(self):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, candidates):
        return torch.softmax(self.score(candidates).squeeze(-1), dim=0)


torch.manual_seed(0)
model = Ranker()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    candidates = torch.randn(11, 6)
    relevance = torch.softmax(candidates[:, 0], dim=0)
    loss = F.binary_cross_entropy(model(candidates), relevance)
    opt.zero_grad()
    loss.backward()
    opt.step()
