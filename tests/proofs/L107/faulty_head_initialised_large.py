# line: 13
# The head is drawn with a standard deviation of one over 256 inputs.
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 256), nn.GELU(), nn.LayerNorm(256))
        self.head = nn.Linear(256, classes)
        with torch.no_grad():
            nn.init.normal_(self.head.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


torch.manual_seed(0)
model = Classifier(20)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for _ in range(10):
    x = torch.randn(64, 12)
    loss = criterion(model(x), (x[:, 0] * 5).long().clamp(-9, 9) + 9)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
