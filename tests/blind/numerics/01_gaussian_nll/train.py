import torch
from torch import nn

torch.manual_seed(0)


class Heteroscedastic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
        self.mean, self.spread = nn.Linear(32, 1), nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), torch.relu(self.spread(h))


def gaussian_nll(y, mean, var):
    return 0.5 * (torch.log(var) + (y - mean) ** 2 / (var + 1e-6)).mean()


x = torch.rand(800, 3) * 8 - 4
y = x.sum(1, keepdim=True).sin() * 0.1 + 0.02 * torch.randn(800, 1)
net = Heteroscedastic()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(120):
    i = torch.randint(0, 800, (40,))
    mean, var = net(x[i])
    loss = gaussian_nll(y[i], mean, var)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
