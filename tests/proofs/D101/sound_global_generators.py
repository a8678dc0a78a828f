# torch's and NumPy's global generators in workers, a generator made per sample, and one that only __init__ uses.
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        rng = np.random.default_rng(0)
        self.x = torch.from_numpy(rng.normal(size=(8, 3)).astype(np.float32))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        own = np.random.default_rng(i)
        return self.x[i] + torch.randn(3) + np.random.rand() + float(own.normal())


if __name__ == "__main__":
    for batch in DataLoader(Noisy(), batch_size=4, num_workers=2):
        print(batch.shape)
