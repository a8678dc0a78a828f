# A fresh network with the old spectral_norm is evaluated before it was ever in training mode.
# line: 12
import torch
from torch import nn
from torch.nn.utils import spectral_norm

torch.manual_seed(0)
net = nn.Sequential(spectral_norm(nn.Linear(8, 32)), nn.ReLU(), spectral_norm(nn.Linear(32, 1)))
x = torch.randn(16, 8)
net.eval()
with torch.no_grad():
    print(net(x).std().item())
