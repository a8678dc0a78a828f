# One permutation for both.
import torch
from torch.utils.data import TensorDataset

x, y = torch.randn(20, 3), torch.arange(20)
order = torch.randperm(20)
print(len(TensorDataset(x[order], y[order])))
