# Workers that stay on the CPU, and a message that is only printed.
import torch
from torch.utils.data import DataLoader, TensorDataset

for (batch,) in DataLoader(TensorDataset(torch.zeros(4, 2)), batch_size=2, num_workers=1):
    batch = batch.to("cpu", non_blocking=True)
print("Cannot re-initialize CUDA in forked subprocess")
