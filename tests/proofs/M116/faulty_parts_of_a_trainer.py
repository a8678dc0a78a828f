# Encoder and head called one after the other; eval() goes to the model that holds them.
# line: 29
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.head = nn.Linear(16, 1)


class Trainer:
    def __init__(self):
        self.model = Model()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def loss(self, x, y):
        return nn.functional.mse_loss(self.model.head(self.model.encoder(x)), y)

    def fit(self, loader, xv, yv):
        for epoch in range(3):
            for x, y in loader:
                self.optimizer.zero_grad()
                self.loss(x, y).backward()
                self.optimizer.step()
            self.model.eval()
            with torch.inference_mode():
                print(self.loss(xv, yv).item())


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16, shuffle=True)
Trainer().fit(loader, torch.randn(20, 4), torch.randn(20, 1))
