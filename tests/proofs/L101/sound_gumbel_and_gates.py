# A gumbel softmax picks an expert, a sigmoid gates a skip; the loss sees plain scores.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
choose, experts, gate, out = (
    nn.Linear(6, 3),
    nn.ModuleList(nn.Linear(6, 12) for _ in range(3)),
    nn.Linear(6, 12),
    nn.Linear(12, 4),
)
parts = nn.ModuleList([choose, experts, gate, out])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(32, 6)
    picked = F.gumbel_softmax(choose(x), tau=1.0)
    mixed = sum(picked[:, i : i + 1] * expert(x) for i, expert in enumerate(experts))
    logits = out(torch.relu(mixed) * torch.sigmoid(gate(x)))
    loss = F.cross_entropy(logits, x[:, :4].argmax(1), weight=torch.tensor([1.0, 2.0, 1.0, 1.0]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
