# AdamW, a small penalty, and decoupled decay.
import torch
from torch import nn

net = nn.Linear(4, 1)
torch.optim.AdamW(net.parameters(), weight_decay=0.05)
torch.optim.Adam(net.parameters(), weight_decay=1e-5)
torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.05)
