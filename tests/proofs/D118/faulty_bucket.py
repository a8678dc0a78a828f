# A function puts a text into one of several folds.
# line: 7
import torch


def fold_of(patient: str, folds: int = 4) -> int:
    return abs(hash(patient)) % folds


folds = torch.tensor([fold_of(f"p{i}") for i in range(20)])
print(torch.bincount(folds, minlength=4).sum())
