# The region holds the loss only.
# line: 14
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(6):
    x, y = torch.randn(64, 4), torch.randint(0, 3, (64,))
    output = model(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = criterion(output, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
