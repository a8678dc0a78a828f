# Two Subsets of one dataset, one of them changed.
# line: 20
import torch
from torch.utils.data import Dataset, Subset


class Signals(Dataset):
    def __init__(self):
        self.data, self.augment = torch.randn(12, 3), True

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return self.data[i] + (torch.randn(3) if self.augment else 0)


whole = Signals()
train, test = Subset(whole, range(9)), Subset(whole, range(9, 12))
test.dataset.augment = False
print(train[0], test[0])
