# The whole model was saved, of a class of the program.
# line: 18
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


def restore(path):
    with open(path, "rb") as file:
        return torch.load(file, map_location="cpu").eval()


torch.save(Net(), "model.pt")
restore("model.pt")
