# Only confident samples are learnt from, and at some step there are none.
# line: 15
# also: A110
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for step in range(20):
    x = torch.randn(8, 6) * (1.0 if step != 11 else 1e-6)
    scores = net(x)
    sure = scores.softmax(1).max(1).values > (0.34 if step != 11 else 0.999)
    loss = criterion(scores[sure], torch.randint(3, (8,))[sure])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
