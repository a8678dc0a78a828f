# A sparse autoencoder: at any sample nearly all units are zero, but each fires for some.
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(16, 128), nn.Linear(128, 16)
nn.init.constant_(encoder.bias, -1.2)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
for step in range(120):
    x = torch.randn(64, 16)
    code = torch.relu(encoder(x))
    loss = (decoder(code) - x).pow(2).mean() + 1e-3 * code.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
