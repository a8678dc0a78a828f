# line: 13, 18
# FedProx: the global weights are kept in a dictionary of .data, which follows every local step.
import torch
from torch import nn


class Client:
    def __init__(self, model: nn.Module, mu: float) -> None:
        self.model, self.mu = model, mu
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def receive(self) -> None:
        self.reference = {name: p.data for name, p in self.model.named_parameters()}

    def local_step(self, x: torch.Tensor, y: torch.Tensor) -> float:
        loss = nn.functional.mse_loss(self.model(x).squeeze(1), y)
        proximal = sum(torch.sub(p, self.reference[n]).square().sum() for n, p in self.model.named_parameters())
        loss = loss + self.mu / 2 * proximal
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
client = Client(nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1)), mu=0.1)
for _ in range(3):
    client.receive()
    for _ in range(5):
        x = torch.randn(16, 5)
        client.local_step(x, x.sum(1))
