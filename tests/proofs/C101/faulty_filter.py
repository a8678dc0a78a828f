# The usual filter over the names leaves nothing, and the module's own state is loaded again.
# line: 19
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
        self.add_module(name, nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8)))


def load_pretrained(model, path):
    pretrained = torch.load(path)
    current = model.state_dict()
    kept = {}
    for _ in range(1):
        kept = {k: v for k, v in pretrained.items() if k in current}
    current.update(kept)
    model.load_state_dict(current)
    return model


torch.save(Encoder("blocks").state_dict(), "encoder.pt")
load_pretrained(Encoder("stages"), "encoder.pt")
