import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = nn.Embedding(40, 16), nn.LSTM(16, 16), nn.Linear(16, 40)

    def forward(self, ids, state):
        states, state = self.lstm(self.embed(ids), state)
        return self.out(states), state


def batchify(text, batch):
    return text[: len(text) // batch * batch].view(batch, -1).t().contiguous()


torch.manual_seed(0)
data = batchify(torch.randint(0, 40, (2000,)), 10)
net = Model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
state = None
for i in range(0, 120, 12):
    x, y = data[i : i + 12], data[i + 1 : i + 13]
    optimizer.zero_grad()
    logits, state = net(x, state)
    state = tuple(s.detach() for s in state)
    nn.functional.cross_entropy(logits.view(-1, 40), y.view(-1)).backward()
    optimizer.step()
