# line: 17
# Logits are divided by a temperature as small as those of contrastive losses.
import torch
import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self, temperature: float = 0.01) -> None:
        super().__init__()
        self.temperature = temperature
        self.first, self.second = nn.Linear(16, 64), nn.Linear(64, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.first(x))
        scores = self.second(h)
        return scores / self.temperature


torch.manual_seed(0)
model = Head()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for _ in range(8):
    x = torch.randn(64, 16)
    loss = F.cross_entropy(model(x), (x[:, :8]).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
