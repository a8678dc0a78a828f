import torch
import torch.nn as nn
import torch.nn.functional as F


class Series(nn.Module):
    """A single long series: rows are time steps, each with a target."""

    def __init__(self):
        super().__init__()
        self.lift, self.rnn, self.head = nn.Linear(3, 16), nn.GRU(16, 16), nn.Linear(16, 1)

    def forward(self, x):
        out, _ = self.rnn(self.lift(x).unsqueeze(1))
        return self.head(out.squeeze(1)).squeeze(-1)


torch.manual_seed(0)
x, y = torch.randn(40, 3), torch.randn(40)
model = Series()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
