# A loader whose last batch holds one sample; the trainer is a class.
# line: 11
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, dataset, batch_size):
        self.model = model
        self.loader = DataLoader(
            dataset,
            batch_size=batch_size,
            shuffle=True,
        )
        self.optimizer = torch.optim.Adam(model.parameters())

    def run(self):
        self.model.train()
        for x, y in self.loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()


torch.manual_seed(0)
data = TensorDataset(torch.randn(65, 4), torch.randn(65, 1))
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
Trainer(model, data, 16).run()
