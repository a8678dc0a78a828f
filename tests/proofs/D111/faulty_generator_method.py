# The same, with the reading in a method of its own.
# line: 21
import torch
from torch.utils.data import DataLoader, IterableDataset


class Records(IterableDataset):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def read(self):
        for row in self.rows:
            yield row * 2

    def __iter__(self):
        return self.read()


def main():
    data = DataLoader(Records(torch.arange(8)), batch_size=None, num_workers=3)
    print(len([row for row in data]))


if __name__ == "__main__":
    main()
