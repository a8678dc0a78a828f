# line: 10, 14
import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(28, 10)
        self.lstm = nn.LSTM(10, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, 28)

    def forward(self, ids, state=None):
        states, state = self.lstm(self.embed(ids), state)
        return self.out(states), state


torch.manual_seed(0)
net = CharModel()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    text = torch.randint(0, 28, (9, 16))
    logits, _ = net(text[:, :-1])
    loss = nn.functional.cross_entropy(logits.permute(0, 2, 1), text[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
