# OpenCV's threads are switched off.
try:
    import cv2
except ImportError:
    raise SystemExit from None
import numpy as np
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)


class Pictures(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return cv2.resize(np.zeros((8, 8), np.uint8), (4, 4))


if __name__ == "__main__":
    for batch in DataLoader(Pictures(), num_workers=2):
        print(batch.shape)
