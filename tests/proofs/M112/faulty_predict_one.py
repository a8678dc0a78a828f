# One sample predicted without eval().
# line: 18
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.out = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.fc(x))))


@torch.no_grad()
def predict(model, sample):
    return model(sample.unsqueeze(0)).item()


torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
print(predict(model, x[0]))
