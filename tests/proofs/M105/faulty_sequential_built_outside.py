# One block built once and put several times into a Sequential.
# line: 9
import torch
from torch import nn


def make_model(width=8, depth=3):
    block = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU())
    return nn.Sequential(*[block for _ in range(depth)], nn.Linear(width, 2))


def main():
    torch.manual_seed(0)
    x, y = torch.randn(64, 8), torch.randint(0, 2, (64,))
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(12):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


main()
