# line: 16
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 12)
        self.lstm = nn.LSTM(12, 18, batch_first=True, bidirectional=True)
        self.out = nn.Linear(36, 2)

    def forward(self, ids):
        _, (h, _) = self.lstm(self.embed(ids))
        return self.out(h.view(ids.shape[0], -1))


torch.manual_seed(0)
net = Sentiment()
optimizer = torch.optim.Adam(net.parameters())
for ids, y in DataLoader(TensorDataset(torch.randint(0, 40, (160, 9)), torch.randint(0, 2, (160,))), 20, shuffle=True):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(ids), y).backward()
    optimizer.step()
