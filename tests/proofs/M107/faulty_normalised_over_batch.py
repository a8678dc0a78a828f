# line: 14
# also: M108
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16))
head = nn.Linear(16, 4)


def predict(x):
    h = F.normalize(body(x), dim=0)
    return head(h)


data = TensorDataset(torch.randn(256, 12), torch.randint(0, 4, (256,)))
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()])
for x, y in DataLoader(data, batch_size=32, shuffle=True):
    loss = F.cross_entropy(predict(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
