# log_softmax, log of a mixture of softmaxes, log-sigmoids, log_target: log-probabilities made in several ways.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
a, b, teacher = nn.Linear(8, 6), nn.Linear(8, 6), nn.Linear(8, 6).requires_grad_(False)
optimizer = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 8)
    y = torch.randint(6, (16,))
    mixed = (0.5 * a(x).softmax(1) + 0.5 * b(x).softmax(1) + 1e-8).log()
    loss = F.nll_loss(mixed, y) + F.nll_loss(a(x).log_softmax(1), y)
    loss = loss + F.kl_div(b(x).log_softmax(1), teacher(x).log_softmax(1), reduction="batchmean", log_target=True)
    loss = loss + F.kl_div(b(x).log_softmax(1), teacher(x).softmax(1), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
