# Without workers the dataset may do as it likes.
import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.zeros(2).to("cuda" if torch.cuda.is_available() else "cpu")


for batch in DataLoader(Pictures()):
    pass
