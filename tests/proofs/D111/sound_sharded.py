# Each worker takes its share; one worker, or none, takes all.
import itertools

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        yield from itertools.islice(map(float, range(6)), first, None, step)


class Whole(IterableDataset):
    def __iter__(self):
        return iter([1.0, 2.0])


if __name__ == "__main__":
    print(sum(len(b) for b in DataLoader(Stream(), num_workers=2)))
    print(sum(len(b) for b in DataLoader(Whole(), num_workers=1)))
    print(sum(len(b) for b in DataLoader(Whole())))
