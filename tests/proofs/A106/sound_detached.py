# Truncated back-propagation: the state is detached between chunks, in the module and in the loop.
import torch
from torch import nn


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 8, batch_first=True)
        self.head = nn.Linear(8, 3)
        self.state = None

    def forward(self, x):
        if self.state is not None:
            self.state = tuple(s.detach() for s in self.state)
        out, self.state = self.lstm(x, self.state)
        return self.head(out)


torch.manual_seed(0)
model = Stateful()
cell, out = nn.GRUCell(3, 8), nn.Linear(8, 3)
optimizer = torch.optim.SGD([*model.parameters(), *cell.parameters(), *out.parameters()], lr=0.1)
series = torch.randn(2, 200, 3).cumsum(1) * 0.1
h = torch.zeros(2, 8)
for start in range(0, 160, 16):
    chunk, following = series[:, start : start + 16], series[:, start + 1 : start + 17]
    loss = nn.functional.mse_loss(model(chunk), following)
    for t in range(16):
        h = cell(chunk[:, t], h)
        loss = loss + nn.functional.mse_loss(out(h), following[:, t]) / 16
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    h = h.detach()
print(f"loss {loss.item():.4f}")
