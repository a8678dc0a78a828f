# An archive is opened once and read in the workers.
# line: 13
import os
import tempfile
import zipfile

import torch
from torch.utils.data import DataLoader, Dataset


class Zipped(Dataset):
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)
        self.names = self.archive.namelist()

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return torch.tensor(len(self.archive.read(self.names[index])))


def main():
    path = os.path.join(tempfile.mkdtemp(), "data.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(4):
            archive.writestr(str(i), b"x" * i)
    loader = DataLoader(Zipped(path), num_workers=1)
    print([int(size) for size in loader])


if __name__ == "__main__":
    main()
