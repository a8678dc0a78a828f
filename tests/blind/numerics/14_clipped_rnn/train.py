import torch
from torch import nn

torch.manual_seed(0)


class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.LSTM(2, 32, batch_first=True), nn.Linear(32, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).squeeze(1)


def problem(n, length=40):
    value, mark = torch.rand(n, length), torch.zeros(n, length)
    for row in mark:
        row[torch.randperm(length)[:2]] = 1
    return torch.stack([value, mark], -1), (value * mark).sum(1)


model = Adder()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(80):
    x, y = problem(32)
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
print(loss.item())
