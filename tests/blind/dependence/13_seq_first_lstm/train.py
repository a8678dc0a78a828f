import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 24)
        self.out = nn.Linear(24, 5)

    def forward(self, x):  # (time, batch, features)
        _, (h, _) = self.lstm(x)
        return self.out(h[-1])


torch.manual_seed(0)
x = torch.randn(600, 11, 4)
y = (x[:, :, 0] > 1).sum(1).clamp(max=4)
model = Counter()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for i in torch.randperm(600).split(30):
        batch = x[i].permute(1, 0, 2)
        loss = nn.functional.cross_entropy(model(batch), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
