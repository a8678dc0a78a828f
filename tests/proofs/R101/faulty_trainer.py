# The same in a trainer, with the sampler made in place.
# line: 15
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, distributed


class Trainer:
    def __init__(self, data):
        self.net = nn.Linear(2, 1)
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.loader = DataLoader(
            data,
            batch_size=5,
            sampler=distributed.DistributedSampler(data, num_replicas=2, rank=1, shuffle=True),
        )

    def epoch(self):
        for x, y in self.loader:
            loss = nn.functional.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


trainer = Trainer(TensorDataset(torch.randn(20, 2), torch.randn(20, 1)))
for _ in range(2):
    trainer.epoch()
