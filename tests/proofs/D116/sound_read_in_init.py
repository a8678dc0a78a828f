# The file is read into memory in __init__ and closed.
import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset


class Whole(Dataset):
    def __init__(self, path):
        with open(path, "rb") as file:
            self.content = file.read()

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.tensor(list(self.content[4 * i : 4 * i + 4]))


if __name__ == "__main__":
    path = os.path.join(tempfile.mkdtemp(), "records")
    with open(path, "wb") as out:
        out.write(bytes(32))
    print(sum(batch.sum().item() for batch in DataLoader(Whole(path), num_workers=2)))
