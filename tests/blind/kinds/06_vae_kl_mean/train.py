import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


def make_topics(n, topics=12, words=60):
    mix = torch.distributions.Dirichlet(torch.ones(topics) * 0.3).sample((n,))
    table = torch.softmax(2 * torch.randn(topics, words), 1)
    counts = torch.distributions.Multinomial(50, mix @ table).sample()
    return counts / 50, mix


net = nn.Sequential(nn.Linear(60, 64), nn.ReLU(), nn.Linear(64, 12))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
docs, mixes = make_topics(800)
for it in range(120):
    b = torch.randint(0, 700, (40,))
    log_q = F.log_softmax(net(docs[b]), dim=-1)
    loss = F.kl_div(log_q, mixes[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
with torch.no_grad():
    held = F.kl_div(F.log_softmax(net(docs[700:]), -1), mixes[700:], reduction="batchmean")
print(f"train {loss.item():.5f} held-out divergence {held.item():.4f}")
