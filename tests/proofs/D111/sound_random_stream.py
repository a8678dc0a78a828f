# A stream of random samples, which differ from worker to worker.
import torch
from torch.utils.data import DataLoader, IterableDataset


class Noise(IterableDataset):
    def __iter__(self):
        for _ in range(4):
            yield torch.randn(3)


if __name__ == "__main__":
    for batch in DataLoader(Noise(), batch_size=2, num_workers=2):
        print(batch.shape)
