# Class probabilities that sum to one over the batch, with a logarithm by nll_loss.
# line: 14
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(120, 7), torch.randint(0, 4, (120,)))
body = nn.Sequential(nn.Linear(7, 12), nn.GELU(), nn.Linear(12, 4))
optimizer = torch.optim.SGD(body.parameters(), lr=0.1)


def scores(x):
    return body(x).log_softmax(dim=0)


for _ in range(3):
    for x, y in DataLoader(data, batch_size=24, shuffle=True):
        loss = nn.functional.nll_loss(scores(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
