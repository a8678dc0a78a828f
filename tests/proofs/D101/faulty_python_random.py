# A transform object holds random.Random and is called for each sample.
# line: 11
import random

import torch
from torch.utils.data import DataLoader, Dataset


class Jitter:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def __call__(self, x):
        return x + self.random.uniform(-0.1, 0.1)


class Points(Dataset):
    def __init__(self, n, transform):
        self.points, self.transform = torch.randn(n, 2), transform

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.transform(self.points[index])


def main():
    loader = DataLoader(Points(12, Jitter(3)), batch_size=4, num_workers=2, shuffle=True)
    print(sum(batch.sum().item() for batch in loader))


if __name__ == "__main__":
    main()
