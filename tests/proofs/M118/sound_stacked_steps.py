import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.rnn = nn.GRUCell(4, 16), nn.GRU(32, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        h, states = x.new_zeros(len(x), 16), []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            states.append(torch.cat([h, h.flip(1)], dim=1))
        return self.head(self.rnn(torch.stack(states))[0][-1])


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 10, 4), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
