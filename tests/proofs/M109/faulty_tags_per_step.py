# line: 11, 15
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tags(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.lstm = nn.LSTM(8, 10, bidirectional=True)
        self.out = nn.Linear(20, 6)

    def forward(self, words):
        states, _ = self.lstm(self.embed(words))
        return self.out(states)


torch.manual_seed(0)
net = Tags()
optimizer = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss()
for words, tags in DataLoader(
    TensorDataset(torch.randint(0, 30, (160, 12)), torch.randint(0, 6, (160, 12))), 16, shuffle=True
):
    loss = criterion(net(words).view(-1, 6), tags.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
