# New heads, adapters, a backbone out of a larger checkpoint, checked results, a caught failure.
import torch
from torch import nn


def network(head, classes):
    return nn.ModuleDict({"a": nn.Linear(4, 8), "b": nn.Linear(8, 8), head: nn.Linear(8, classes)})


state = network("head", 10).state_dict()
network("classifier", 10).load_state_dict(state, strict=False)
network("classifier", 3).load_state_dict(state, strict=False)
nn.ModuleDict({"a": nn.Linear(4, 8)}).load_state_dict(state, strict=False)
model = network("head", 10)
model.load_state_dict({"b.weight": torch.zeros(8, 8)}, strict=False)
other = nn.Sequential(nn.Linear(4, 8))
missing, unexpected = other.load_state_dict(state, strict=False)
if missing:
    print("not loaded:", missing)
print(nn.Sequential(nn.Linear(4, 8)).load_state_dict(state, strict=False))
try:
    other.load_state_dict(state)
except RuntimeError:
    other.load_state_dict({"0.weight": state["a.weight"], "0.bias": state["a.bias"]})
