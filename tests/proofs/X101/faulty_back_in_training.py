# eval() for the test, then train() again before the export.
# line: 17
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.drop, self.head = nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.drop(torch.relu(self.body(x))))


def export(model, example):
    return torch.export.export(model, (example,))


model = Net()
model.eval()
print(model(torch.randn(2, 4)))
model.train()
export(model, torch.randn(2, 4))
