# The generator is put into the same state before each.
import torch
from torch.utils.data import TensorDataset

x, y = torch.randn(20, 3), torch.arange(20)
torch.manual_seed(3)
x = x[torch.randperm(20)]
torch.manual_seed(3)
y = y[torch.randperm(20)]
print(len(TensorDataset(x, y)))
