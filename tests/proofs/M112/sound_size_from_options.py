# The batch size and drop_last come from the command line.
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--keep", action="store_true")
opt = parser.parse_args([])
data = TensorDataset(torch.randn(33, 4), torch.randn(33, 1))
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for loader in (DataLoader(data, batch_size=opt.batch_size + 3), DataLoader(data, batch_size=8, drop_last=not opt.keep)):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
