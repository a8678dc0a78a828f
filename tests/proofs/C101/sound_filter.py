# The filter keeps the backbone; a second one drops a head; an average is copied back.
import torch
from torch import nn


def build(classes):
    return nn.ModuleDict({"body": nn.Linear(4, 8), "head": nn.Linear(8, classes)})


pretrained = build(10).state_dict()
model = build(3)
current = model.state_dict()
kept = {k: v for k, v in pretrained.items() if k in current and v.shape == current[k].shape}
current.update(kept)
model.load_state_dict(current)
backbone = {k: v for k, v in pretrained.items() if k in current and not k.startswith("head")}
print(model.load_state_dict(backbone, strict=False))
best = {k: v.clone() for k, v in model.state_dict().items()}
model.load_state_dict(best)
model.load_state_dict(model.state_dict())
batch = {"x": torch.zeros(2, 4), "y": torch.zeros(2)}
batch = {k: v for k, v in batch.items() if k in ("x",)}
best = model.state_dict()
best.update({k: v * 1 for k, v in best.items()})
model.load_state_dict(best)
