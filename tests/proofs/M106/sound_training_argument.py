# training=self.training, attention switched by the mode, and Monte-Carlo draws on purpose.
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(4, 16), nn.Linear(16, 1)

    def forward(self, x, draw=False):
        h = F.dropout(F.relu(self.hidden(x)), 0.3, training=self.training or draw)
        a = h.unsqueeze(1)
        a = F.scaled_dot_product_attention(a, a, a, dropout_p=0.1 if self.training else 0.0)
        return self.out(h + a.squeeze(1))


torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(5):
    net.train()
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    print(F.mse_loss(net(x), y).item())
    print(torch.stack([net(x, draw=True) for _ in range(8)]).std(dim=0).mean().item())
