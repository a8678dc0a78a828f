import torch
from torch import nn


class GatedBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.value, self.gate = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        return x + self.value(x) * torch.sigmoid(self.gate(x))


class Click(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(GatedBlock(16), GatedBlock(16))
        self.score = nn.Linear(16, 1)

    def forward(self, x):
        return self.score(self.blocks(x)).squeeze(-1)

    @torch.no_grad()
    def predict(self, x):
        return torch.sigmoid(self(x))


torch.manual_seed(7)
x = torch.randn(1000, 16)
y = (x[:, 0] * x[:, 1] > 0).float()
net = Click()
opt = torch.optim.Adam(net.parameters(), 3e-3)
bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(1.2))
for step in range(100):
    i = torch.randint(0, 900, (50,))
    opt.zero_grad()
    bce(net(x[i]), y[i]).backward()
    opt.step()
net.eval()
print("mean p", net.predict(x[900:]).mean().item())
