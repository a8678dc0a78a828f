import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        out, _ = self.gru(x.transpose(0, 1))
        return self.head(out[-1])


torch.manual_seed(0)
net = Forecast()
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(320, 9, 4), torch.randn(320, 1)), batch_size=32, shuffle=True):
    optimizer.zero_grad()
    nn.MSELoss()(net(x), y).backward()
    optimizer.step()
