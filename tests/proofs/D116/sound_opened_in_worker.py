# Each worker opens the file on first use; without workers one file is enough.
import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset


class Lazy(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if self.file is None:
            self.file = open(self.path, "rb")
        self.file.seek(4 * i)
        return torch.tensor(list(self.file.read(4)))


class Eager(Lazy):
    def __init__(self, path):
        super().__init__(path)
        self.file = open(path, "rb")


if __name__ == "__main__":
    path = os.path.join(tempfile.mkdtemp(), "records")
    with open(path, "wb") as out:
        out.write(bytes(32))
    for batch in DataLoader(Lazy(path), batch_size=2, num_workers=2):
        print(batch.shape)
    for batch in DataLoader(Eager(path), batch_size=2):
        print(batch.shape)
