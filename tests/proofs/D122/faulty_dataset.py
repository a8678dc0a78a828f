# A dataset moves its samples; the message is that of a forked worker on a machine with a GPU.
# line: 15
from torch.utils.data import DataLoader, Dataset

MESSAGE = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, use 'spawn'"


class Pictures(Dataset):
    device = "cuda"

    def __len__(self):
        return 4

    def __getitem__(self, i):
        raise RuntimeError(MESSAGE) if self.device == "cuda" else None


for batch in DataLoader(Pictures(), num_workers=1):
    pass
