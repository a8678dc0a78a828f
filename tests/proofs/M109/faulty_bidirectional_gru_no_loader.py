# line: 12
# also: M107
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.rnn = nn.GRU(16, 8, bidirectional=True)
        self.head = nn.Linear(16, 3)

    def forward(self, ids):
        out = self.rnn(self.embed(ids))[0]
        return self.head(out.mean(1))


torch.manual_seed(0)
ids, y = torch.randint(0, 30, (96, 9)), torch.randint(0, 3, (96,))
model = Tagger()
opt = torch.optim.SGD(model.parameters(), 0.1)
for idx in torch.randperm(96).split(12):
    loss = F.cross_entropy(model(ids[idx]), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
