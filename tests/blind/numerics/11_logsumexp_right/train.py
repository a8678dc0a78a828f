import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 5))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
x = torch.randn(640, 9)
y = x[:, :5].argmax(1)
for step in range(100):
    i = torch.randint(0, 640, (32,))
    s = net(x[i])
    s = s - s.max(dim=1, keepdim=True).values.detach()
    logp = s - s.exp().sum(1, keepdim=True).log()
    entropy = -(logp.exp() * (logp.exp() + 1e-8).log()).sum(1).mean()
    loss = -logp[torch.arange(32), y[i]].mean() - 0.01 * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
