# The largest batch size is searched by trying.
import torch

size = 10**13
while True:
    try:
        block = torch.empty(size)
        break
    except RuntimeError:
        size //= 1000
