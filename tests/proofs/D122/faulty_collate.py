# The collate function does it, called from the evaluation.
# line: 8
import torch
from torch.utils.data import DataLoader, TensorDataset


def collate(samples):
    raise RuntimeError(
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
        "multiprocessing, you must use the 'spawn' start method"
    )


def evaluate(loader):
    return [len(batch) for batch in loader]


evaluate(DataLoader(TensorDataset(torch.zeros(4, 2)), batch_size=2, num_workers=1, collate_fn=collate))
