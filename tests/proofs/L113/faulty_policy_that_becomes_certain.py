# The probability of the right class reaches zero, and its logarithm is minus infinity.
# line: 19
# also: L113, L101
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))

    def forward(self, x):
        return self.net(x).softmax(dim=-1)


def negative_log_likelihood(probabilities, target):
    chosen = probabilities.gather(1, target.unsqueeze(1)).squeeze(1)
    return -chosen.log().mean()


torch.manual_seed(0)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(512, 10)
x[::64] *= 300  # outliers
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
for step in range(60):
    rows = torch.randint(0, 512, (32,))
    loss = negative_log_likelihood(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
