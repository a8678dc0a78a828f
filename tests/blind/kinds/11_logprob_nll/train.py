import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Digit(nn.Module):
    def __init__(s):
        super().__init__(); s.a = nn.Linear(20, 40); s.b = nn.Linear(40, 6)
    def forward(s, x): return F.log_softmax(s.b(torch.relu(s.a(x))), dim=1)
x = torch.randn(600, 20); y = (x[:, :6]).argmax(1)
net = Digit(); opt = torch.optim.Adadelta(net.parameters(), lr=1.0)
for ep in range(5):
    for i in torch.randperm(600).split(50):
        opt.zero_grad(); loss = F.nll_loss(net(x[i]), y[i]); loss.backward(); opt.step()
    print(ep, loss.item())
