# The generator is seeded anew in each worker, or there are no workers.
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.tensor(self.rng.normal(size=3), dtype=torch.float32)


def seed(worker):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(torch.initial_seed() % 2**32)


if __name__ == "__main__":
    for batch in DataLoader(Noisy(), batch_size=4, num_workers=2, worker_init_fn=seed):
        print(batch.shape)
    for batch in DataLoader(Noisy(), batch_size=4):
        print(batch.shape)
