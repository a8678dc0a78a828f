# A model keeps its LSTM state in an attribute and never detaches it.
# line: 15
import torch
from torch import nn


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 8, batch_first=True)
        self.head = nn.Linear(8, 3)
        self.state = None

    def forward(self, x):
        out, self.state = self.lstm(x, self.state)
        return self.head(out)


torch.manual_seed(0)
model = Stateful()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
series = torch.randn(2, 200, 3).cumsum(1) * 0.1
for start in range(0, 160, 16):
    chunk, following = series[:, start : start + 16], series[:, start + 1 : start + 17]
    loss = nn.functional.mse_loss(model(chunk), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
