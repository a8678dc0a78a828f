import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
net = nn.Sequential(weight_norm(nn.Linear(10, 32)), nn.Tanh(), weight_norm(nn.Linear(32, 3)))
opt = torch.optim.SGD(net.parameters(), lr=0.4, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.4, total_steps=120, pct_start=0.3)
x = torch.randn(720, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
for step in range(120):
    i = torch.randint(0, 720, (48,))
    loss = nn.functional.cross_entropy(net(x[i]), y[i], label_smoothing=0.05)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
print(loss.item())
