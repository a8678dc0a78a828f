# The criterion of a trainer adds up the errors of the whole batch.
# line: 13
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, net, loader):
        self.net = net
        self.loader = loader
        self.optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
        self.criterion = nn.SmoothL1Loss(reduction="sum")

    def epoch(self):
        for inputs, wanted in self.loader:
            self.optimizer.zero_grad()
            error = self.criterion(self.net(inputs), wanted)
            error.backward()
            self.optimizer.step()


torch.manual_seed(0)
x = torch.randn(100, 5)
loader = DataLoader(TensorDataset(x, x[:, :2].clone()), batch_size=16)
trainer = Trainer(nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2)), loader)
for _ in range(2):
    trainer.epoch()
