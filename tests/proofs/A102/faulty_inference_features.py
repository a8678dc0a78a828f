# Features made under inference_mode are used for training.
# line: 10
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randint(0, 2, (64,))
backbone, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 2)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
with torch.inference_mode():
    features = backbone(x)
for step in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(features), y).backward()
    optimizer.step()
