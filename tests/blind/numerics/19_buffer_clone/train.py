import torch
from torch import nn

torch.manual_seed(0)


class Ring(nn.Module):
    def __init__(self, size=16, d=6):
        super().__init__()
        self.register_buffer("store", torch.zeros(size, d))
        self.register_buffer("at", torch.zeros((), dtype=torch.long))
        self.f = nn.Linear(2 * d, d)

    @torch.no_grad()
    def push(self, x):
        for row in x[:4]:
            self.store[self.at % len(self.store)] = row
            self.at += 1

    def forward(self, x):
        before = self.store.clone()
        self.push(x)
        context = before.mean(0).expand(len(x), -1).clone()
        context[:, 0] = 1.0
        return self.f(torch.cat([x, context], dim=1))


model = Ring()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    x = torch.randn(20, 6)
    loss = nn.functional.mse_loss(model(x), 2 * x)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
