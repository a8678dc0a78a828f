import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
scorer = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(scorer.parameters())
for query in range(10):
    documents, relevance = torch.randn(20, 12), torch.rand(20)
    scores = scorer(documents).squeeze(1)
    loss = F.kl_div(F.log_softmax(scores, dim=0), F.softmax(relevance, dim=0), reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
