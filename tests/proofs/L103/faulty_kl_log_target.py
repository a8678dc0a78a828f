# Both sides are log-probabilities, and kl_div is not told.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(8, 10), nn.Linear(8, 10).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
measure = nn.KLDivLoss(reduction="sum")
for _ in range(12):
    x = torch.randn(16, 8)
    loss = measure(student(x).log_softmax(1), teacher(x).log_softmax(1)) / len(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
