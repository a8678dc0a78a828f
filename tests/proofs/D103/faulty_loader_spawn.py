# A loader whose workers are spawned is made while the file is imported.
# line: 7
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(4, 2))
loader = DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="spawn")
print(len(loader))
