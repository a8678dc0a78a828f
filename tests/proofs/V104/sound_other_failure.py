# A print about memory; nothing fails.
import torch

print("out of memory" if torch.zeros(10).numel() > 100 else "CUDA out of memory is not the case")
