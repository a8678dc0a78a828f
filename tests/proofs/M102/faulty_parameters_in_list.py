# Parameters in a plain list.
# line: 10
import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.vectors = [nn.Parameter(torch.randn(dim)) for _ in range(n)]
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        return self.head(x + torch.stack(self.vectors).mean(0))


def main():
    torch.manual_seed(0)
    x, y = torch.randn(80, 6), torch.randint(0, 2, (80,))
    model = Prompt(3, 6)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(5):
        for idx in torch.randperm(80).split(16):
            optimizer.zero_grad()
            criterion(model(x[idx]), y[idx]).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
