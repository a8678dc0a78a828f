# The device is asked for; another device is the CPU.
import torch
from torch import nn

device = "cuda:1" if torch.cuda.device_count() > 1 else "cpu"
nn.Linear(4, 1).to(device)
nn.Linear(4, 1).to("cpu")
