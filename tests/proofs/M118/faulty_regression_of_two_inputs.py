# line: 11
# also: L104
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
left, right, out = nn.Linear(10, 16), nn.Linear(10, 16), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*left.parameters(), *right.parameters(), *out.parameters()])
for a, b, y in DataLoader(TensorDataset(torch.randn(128, 10), torch.randn(128, 10), torch.randn(128, 1)), 16):
    both = torch.cat((left(a), right(b)), dim=0)
    prediction = out(torch.relu(both))
    loss = nn.functional.mse_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
