# Parameters of a lazy layer counted before the first forward.
# line: 7
import torch
from torch import nn

model = nn.Sequential(nn.LazyLinear(16), nn.ReLU(), nn.LazyLinear(2))
print(sum(p.numel() for p in model.parameters()))
print(model(torch.randn(4, 8)).shape)
