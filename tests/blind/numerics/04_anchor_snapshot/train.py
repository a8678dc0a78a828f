import torch
from torch import nn

torch.manual_seed(0)


class Anchored:
    """Fine-tuning that is pulled back to the weights of the start (L2-SP)."""

    def __init__(self, model, strength):
        self.model, self.strength = model, strength
        self.start = [p.detach() for p in model.parameters()]

    def penalty(self):
        return self.strength * sum(((p - s) ** 2).sum() for p, s in zip(self.model.parameters(), self.start))


model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
anchor = Anchored(model, 0.05)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
x = torch.randn(600, 8)
y = x[:, :1].sin()
for step in range(80):
    i = torch.randint(0, 600, (30,))
    loss = nn.functional.mse_loss(model(x[i]), y[i]) + anchor.penalty()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item(), float(anchor.penalty()))
