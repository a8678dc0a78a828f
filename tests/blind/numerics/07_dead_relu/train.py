import torch
from torch import nn


def init(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.constant_(module.bias, -6.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(10, 40)
        self.act = nn.ReLU()
        self.out = nn.Linear(40, 1)
        self.apply(init)

    def forward(self, x):
        return self.out(self.act(self.inp(x)))


torch.manual_seed(0)
x = torch.randn(800, 10)
y = x[:, :2].sum(1, keepdim=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    for i in torch.randperm(800).split(40):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[i]), y[i])
        loss.backward()
        opt.step()
    print(epoch, loss.item())
