# A detector whose head ends in a Sigmoid layer is trained with BCEWithLogitsLoss.
# line: 13
import torch
from torch import nn

torch.manual_seed(0)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(32, 1), nn.Sigmoid())

    def forward(self, x):
        return self.head(self.features(x)).squeeze(-1)


model = Detector()
loss_fn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(32, 10)
    loss = loss_fn(model(x), (x[:, 0] > 0).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
