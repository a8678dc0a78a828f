# line: 13
import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.one, self.out = nn.Embedding(30, 16), nn.Linear(16, 16), nn.Linear(16, 30)

    def forward(self, ids):
        h = self.embed(ids)
        context = h.mean(dim=1, keepdim=True)
        return self.out(torch.tanh(self.one(h + context)))


torch.manual_seed(0)
net = Bag()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(0, 30, (6, 12))
    scores = net(ids[:, :-1]).log_softmax(-1)
    loss = nn.functional.nll_loss(scores.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
