# The device is full in the forward; the message is that of a GPU.
# line: 19
import torch
from torch import nn

MESSAGE = """CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 106.06
MiB is free. Including non-PyTorch memory, this process has 23.53 GiB memory in use. Of the allocated memory 14.10 GiB
is allocated by PyTorch, and 8.93 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is
large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.""".replace("\n", " ")


class Net(nn.Linear):
    def forward(self, x):
        return super().forward(x) if x.shape[0] < 64 else full()


def full():
    # Stands for an operator on a device.
    raise torch.OutOfMemoryError(MESSAGE)


net = Net(4, 4)
for size in (8, 16, 32, 64):
    net(torch.zeros(size, 4)).sum().backward()
