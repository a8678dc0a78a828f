import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class FeedForward(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.a, self.b, self.drop = nn.Linear(d, 4 * d), nn.Linear(4 * d, d), nn.Dropout(p)

    def inner(self, x):
        return self.b(self.drop(torch.relu(self.a(x))))

    def forward(self, x):
        return x + checkpoint(self.inner, x, use_reentrant=False, preserve_rng_state=False)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), FeedForward(16, 0.3), FeedForward(16, 0.3), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
x = torch.randn(512, 6)
y = x.prod(1, keepdim=True)
for step in range(80):
    i = torch.randint(0, 512, (32,))
    loss = nn.functional.mse_loss(net(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
