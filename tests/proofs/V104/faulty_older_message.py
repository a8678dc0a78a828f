# The message of an older release, raised while another failure is handled.
# line: 8
import torch


def run(batch):
    try:
        raise RuntimeError(
            "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 10.76 GiB total capacity; 9.04 GiB already allocated; "
            "512.00 MiB free; 9.40 GiB reserved in total by PyTorch)")
    except RuntimeError as error:
        raise SystemError("training failed") from error


run(torch.zeros(4))
