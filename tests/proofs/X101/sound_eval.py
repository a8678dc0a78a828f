# In evaluation mode; and a network without such layers.
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 2))
net.train()
net(torch.randn(6, 4))
net.eval()
torch.jit.trace(net, torch.randn(3, 4))
plain = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Dropout(0.0), nn.Linear(8, 2))
torch.export.export(plain, (torch.randn(3, 4),))
