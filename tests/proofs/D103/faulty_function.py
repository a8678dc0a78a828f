# The same in a function that the top level calls.
# line: 8
import torch
from torch.utils.data import DataLoader, TensorDataset


def make():
    return DataLoader(TensorDataset(torch.zeros(3)), num_workers=1, multiprocessing_context="forkserver")


loader = make()
print(len(loader))
