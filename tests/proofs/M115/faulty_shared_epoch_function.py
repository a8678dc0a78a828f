# One function for both loaders, neither eval() nor no_grad(): told once, as M115.
# line: 17
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 1))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.loss = nn.MSELoss()

    def epoch(self, loader, train):
        total = 0.0
        for x, y in loader:
            loss = self.loss(self.model(x), y)
            if train:
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            total += loss.item()
        return total / len(loader)


torch.manual_seed(0)
loaders = [
    DataLoader(TensorDataset(torch.randn(n, 4), torch.randn(n, 1)), batch_size=16, shuffle=n > 50) for n in (96, 48)
]
trainer = Trainer()
for epoch in range(3):
    print(trainer.epoch(loaders[0], True), trainer.epoch(loaders[1], False))
