# line: 18
import torch
import torch.nn.functional as F
from torch import nn


class Detector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.score = nn.Linear(6, 12), nn.Linear(12, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.score(torch.relu(self.body(x))))


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    with torch.amp.autocast(device_type="cpu", dtype=torch.float16):
        return F.binary_cross_entropy(model(x), y.half())


torch.manual_seed(0)
model = Detector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
for _ in range(8):
    x = torch.randn(32, 6)
    optimizer.zero_grad()
    scaler.scale(loss_of(model, x, (x[:, :3] > 0).float())).backward()
    scaler.step(optimizer)
    scaler.update()
