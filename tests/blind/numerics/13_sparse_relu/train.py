import torch
from torch import nn

torch.manual_seed(0)
atoms = nn.functional.normalize(torch.randn(32, 20), dim=1)


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(20, 48), nn.Linear(48, 20)

    def forward(self, x):
        code = torch.relu(self.enc(x))
        return self.dec(code), code


codes = torch.relu(torch.randn(900, 32) - 1.4)
x = codes @ atoms
model = Sparse()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for i in torch.randperm(900).split(45):
        out, code = model(x[i])
        loss = nn.functional.mse_loss(out, x[i]) + 2e-4 * code.abs().sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), (code > 0).float().mean().item())
