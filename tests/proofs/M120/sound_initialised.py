# The new parametrisation, a training forward first, a copy of a trained network, a loaded state, weight_norm.
import copy

import torch
from torch import nn
from torch.nn.utils import parametrizations, spectral_norm


def old():
    return nn.Sequential(spectral_norm(nn.Linear(8, 32)), nn.ReLU(), spectral_norm(nn.Linear(32, 1)))


torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)
new = nn.Sequential(parametrizations.spectral_norm(nn.Linear(8, 32)), parametrizations.weight_norm(nn.Linear(32, 1)))
new.eval()
with torch.no_grad():
    print(new(x).std().item())
net = old()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(6):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    net(x)
average, loaded = copy.deepcopy(net), old()
loaded.load_state_dict(net.state_dict())
for model in (net, average, loaded):
    model.eval()
    with torch.no_grad():
        print(model(x).std().item())
lazy = nn.Sequential(nn.LazyLinear(16), nn.ReLU(), nn.LazyLinear(2))
lazy(x)
print(sum(p.numel() for p in lazy.parameters()))
