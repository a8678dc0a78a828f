# A checksum is the same everywhere, and numbers hash to themselves.
import zlib

import torch

names = [f"scan_{i}" for i in range(50)]
test = torch.tensor([zlib.crc32(name.encode()) % 5 == 0 for name in names])
folds = torch.tensor([hash(7) % 4, hash(12) % 4])
seen = {hash(name) for name in names}
print(test.shape, folds, len(seen))
