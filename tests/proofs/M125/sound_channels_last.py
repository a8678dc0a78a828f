# channels_last tensors flattened by Flatten.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)).to(memory_format=torch.channels_last)
x = torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)
net(x).sum().backward()
