# The dataset's own NumPy generator adds noise in the workers.
# line: 11
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.x = np.zeros((8, 3), dtype=np.float32)
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i] + self.rng.normal(size=3).astype(np.float32))


if __name__ == "__main__":
    for batch in DataLoader(Noisy(), batch_size=4, num_workers=2):
        print(batch.shape)
