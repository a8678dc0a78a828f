# Sums, class weights and a sum per token: large numbers, and yet the loss is at chance.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(30, 16), nn.Linear(16, 30))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
weight = torch.rand(30) * 40
for _ in range(10):
    ids = torch.randint(0, 30, (8, 20))
    logits = model(ids[:, :-1]).transpose(1, 2)
    per_token = nn.functional.cross_entropy(logits, ids[:, 1:], reduction="none").sum(1).mean()
    weighted = nn.functional.cross_entropy(logits, ids[:, 1:], weight=weight, reduction="sum")
    loss = per_token + 1e-3 * weighted
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
