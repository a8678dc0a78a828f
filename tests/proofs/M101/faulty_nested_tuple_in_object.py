# Pairs of layers in a plain object; gradient accumulation.
# line: 15
import torch
from torch import nn


class Bank:
    def __init__(self, n, width):
        self.pairs = [(nn.Linear(width, width), nn.LayerNorm(width)) for _ in range(n)]


class Encoder(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.bank = Bank(2, width)
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        for linear, norm in self.bank.pairs:
            x = x + torch.tanh(linear(norm(x)))
        return self.head(x)


def main():
    torch.manual_seed(0)
    x, y = torch.randn(256, 12), torch.randint(0, 3, (256,))
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for i, idx in enumerate(torch.arange(256).repeat(4).split(16)):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx]) / 4
        loss.backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


main()
