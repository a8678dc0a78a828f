# The same with NumPy's permutation.
# line: 11
import numpy as np
import torch
from torch.utils.data import TensorDataset


def load():
    features, labels = np.zeros((10, 2), dtype=np.float32), np.arange(10)
    features = features[np.random.permutation(10)]
    labels = labels[np.random.permutation(10)]
    return TensorDataset(torch.from_numpy(features), torch.from_numpy(labels))


print(len(load()))
