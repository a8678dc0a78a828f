# The encoder's forward stands in the no_grad block, yet the optimizer holds it.
# line: 13
import itertools

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
encoder, head = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1)
optimizer = torch.optim.Adam(itertools.chain(encoder.parameters(), head.parameters()), lr=1e-2)
for step in range(20):
    with torch.no_grad():
        noisy = x + 0.1 * torch.randn_like(x)
        code = encoder(noisy)
    loss = nn.functional.mse_loss(head(code), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
