# The encoder is in the optimizer, and its output is cut off.
# line: 15
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 12), nn.Tanh())
        self.head = nn.Linear(12, 2)

    def forward(self, x):
        h = self.encoder(x)
        h = h.detach()
        return self.head(h)


def main():
    torch.manual_seed(0)
    x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


main()
