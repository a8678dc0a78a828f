# Behind the guard.
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.zeros(3)), num_workers=1, multiprocessing_context="spawn")
    print(len(loader))


if __name__ == "__main__":
    main()
