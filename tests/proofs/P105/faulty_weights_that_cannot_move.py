# Updates of bfloat16 weights that are lost in rounding.
# line: 11
import torch
from torch import nn


def main():
    torch.manual_seed(0)
    x = torch.randn(64, 8).bfloat16()
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)).bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
    for _ in range(48):
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).float().pow(2).mean().backward()
        optimizer.step()


main()
