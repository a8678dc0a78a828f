# line: 23
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Linear(16, 20)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


torch.manual_seed(0)
net = Model()
optimizer = torch.optim.Adam(net.parameters())
for (ids,) in DataLoader(TensorDataset(torch.randint(0, 20, (80, 12))), 8, shuffle=True):
    logits = net(ids)
    loss = nn.functional.cross_entropy(logits.view(-1, 20), ids.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
