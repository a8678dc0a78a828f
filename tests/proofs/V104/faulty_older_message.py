# The message of an older release, which another failure is raised from.
# line: 10
import torch

MESSAGE = """CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 10.76 GiB total capacity; 9.04 GiB already
allocated; 512.00 MiB free; 9.40 GiB reserved in total by PyTorch)""".replace("\n", " ")


def allocate(batch):
    raise RuntimeError(MESSAGE)


def run(batch):
    try:
        allocate(batch)
    except RuntimeError as error:
        raise SystemError("training failed") from error


run(torch.zeros(4))
