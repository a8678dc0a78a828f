# A small dataset around each part applies its own transform.
import torch
from torch.utils.data import Dataset, TensorDataset, random_split


class Transformed(Dataset):
    def __init__(self, part, transform):
        self.part, self.transform = part, transform

    def __len__(self):
        return len(self.part)

    def __getitem__(self, i):
        return self.transform(self.part[i][0])


train, val = random_split(TensorDataset(torch.randn(10, 2)), [8, 2])
augmented, plain = Transformed(train, torch.neg), Transformed(val, torch.clone)
plain.transform = torch.abs
print(augmented[0], plain[0])
