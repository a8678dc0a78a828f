# The part gets a copy of the dataset before it is changed; a dataset of its own; one part only.
import copy

import torch
from torch.utils.data import Dataset, Subset, random_split


class Pictures(Dataset):
    def __init__(self, transform=None):
        self.x, self.transform = torch.randn(10, 4), transform

    def __len__(self):
        return 10

    def __getitem__(self, i):
        return self.x[i] if self.transform is None else self.transform(self.x[i])


full = Pictures(torch.abs)
train, val = random_split(full, [8, 2])
val.dataset = copy.copy(full)
val.dataset.transform = None
other = Pictures()
other.transform = torch.neg
alone = Subset(other, range(3))
alone.dataset.transform = None
print(train[0], val[0], alone[0])
