# line: 8
# Parameters in bfloat16 and a small learning rate: hardly any step arrives.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4)).to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.0)
for _ in range(40):
    x = torch.randn(32, 16)
    loss = nn.functional.cross_entropy(model(x.bfloat16()).float(), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
