# Two permutations, one for the inputs and one for the targets.
# line: 8
import torch
from torch.utils.data import TensorDataset

x, y = torch.randn(20, 3), torch.arange(20)
x = x[torch.randperm(20)]
y = y[torch.randperm(20)]
data = TensorDataset(x, y)
print(len(data))
