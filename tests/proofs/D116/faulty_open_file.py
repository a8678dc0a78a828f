# Records are read through one file object that __init__ opened.
# line: 12
import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb", buffering=0)

    def __len__(self):
        return 8

    def __getitem__(self, i):
        self.file.seek(4 * i)
        return torch.tensor(list(self.file.read(4)))


if __name__ == "__main__":
    path = os.path.join(tempfile.mkdtemp(), "records")
    with open(path, "wb") as out:
        out.write(bytes(32))
    for batch in DataLoader(Records(path), batch_size=2, num_workers=2):
        print(batch.shape)
