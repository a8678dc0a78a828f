# hash() of names decides which samples are for testing.
# line: 6
import torch

names = [f"scan_{i}" for i in range(50)]
test = [hash(name) % 5 == 0 for name in names]
x = torch.randn(50, 3)
print(x[torch.tensor(test)].shape)
