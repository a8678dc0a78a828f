# Parameters in bfloat16 and a learning rate that they can follow; float32 ones with small steps under autocast.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4)).to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
other = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4))
small = torch.optim.AdamW(other.parameters(), lr=1e-6)
for _ in range(40):
    x = torch.randn(32, 16)
    loss = nn.functional.cross_entropy(model(x.bfloat16()).float(), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = other(x)
    loss = nn.functional.cross_entropy(scores.float(), x[:, :4].argmax(1))
    small.zero_grad()
    loss.backward()
    small.step()
