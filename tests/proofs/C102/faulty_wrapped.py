# A training wrapper's prefix, under strict=False, with the result in a name that nobody reads.
# line: 21
import torch
from torch import nn


class Task(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.register_buffer("seen", torch.zeros(1))


def build():
    return nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 10))


def evaluate(path):
    checkpoint = torch.load(path)
    net = build()
    incompatible = net.load_state_dict(checkpoint["state_dict"], strict=False)
    net.eval()
    return net(torch.arange(3))


torch.save({"state_dict": Task(build()).state_dict(), "epoch": 3}, "last.ckpt")
evaluate("last.ckpt")
