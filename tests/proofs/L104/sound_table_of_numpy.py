"""A table made with NumPy, its prices in one vector, and a regression whose column is made one, too."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def flats(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(3)
    area = rng.normal(60.0, 15.0, size=count)
    floor = rng.integers(0, 8, count)
    rent = 4.0 + 0.2 * area - 0.1 * floor
    table = np.column_stack([area / 60.0, floor / 8.0])
    return torch.from_numpy(table.astype("float32")), torch.from_numpy(rent.astype("float32"))


class Rent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(2, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.hidden(x)))


def loss_of(model: Rent, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return nn.functional.smooth_l1_loss(model(x).squeeze(1), y)


torch.manual_seed(0)
model = Rent()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for x, y in DataLoader(TensorDataset(*flats(192)), batch_size=16, shuffle=True):
    optimizer.zero_grad()
    loss_of(model, x, y).backward()
    optimizer.step()
