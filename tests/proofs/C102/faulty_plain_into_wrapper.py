# The reverse: the file of the plain network is loaded into a wrapper.
# line: 17
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8))
        self.head = nn.Linear(8, 2)


torch.manual_seed(0)
state = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8)).state_dict()
model = Classifier()
model.load_state_dict(state, strict=False)
