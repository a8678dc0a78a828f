# Forked workers need no guard.
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.zeros(4)), batch_size=2, num_workers=1)
print(len(loader))
