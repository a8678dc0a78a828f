# An input is optimised through a frozen network; an empty batch gives a constant loss now and then.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(24):
    x = torch.randn(16, 6)
    keep = x[:, 0] > (9.0 if step % 7 == 3 else 0.0)
    if keep.any():
        loss = (net(x[keep]) - x[keep].sum(1, keepdim=True)).pow(2).mean()
    else:
        loss = torch.tensor(0.0, requires_grad=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
net.requires_grad_(False)
image = torch.zeros(1, 6, requires_grad=True)
dream = torch.optim.Adam([image], lr=0.1)
for step in range(24):
    dream.zero_grad()
    (-net(image).sum()).backward()
    dream.step()
adversarial = torch.randn(4, 6)
for step in range(12):
    adversarial = adversarial.detach().requires_grad_()
    net(adversarial).sum().backward()
    adversarial = adversarial + 0.01 * adversarial.grad.sign()
