# The validation part gets another transform, and so does the training part.
# line: 19
import torch
from torch.utils.data import Dataset, random_split


class Pictures(Dataset):
    def __init__(self, transform=None):
        self.x, self.transform = torch.randn(10, 4), transform

    def __len__(self):
        return 10

    def __getitem__(self, i):
        return self.x[i] if self.transform is None else self.transform(self.x[i])


train, val = random_split(Pictures(torch.flip), [8, 2])
val.dataset.transform = None
print(len(train), val[0].shape)
