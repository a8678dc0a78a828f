# Every worker goes through the whole stream.
# line: 17
import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            yield torch.tensor([float(i)])


if __name__ == "__main__":
    loader = DataLoader(Stream(6), batch_size=2, num_workers=2)
    print(sum(len(batch) for batch in loader))
