# line: 15
# also: L109
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text, self.head = nn.Linear(6, 16), nn.Linear(4, 16), nn.Linear(16, 1)

    def forward(self, x):
        both = torch.cat([self.image(x[:, :6]), self.text(x[:, 6:])])
        return self.head(torch.relu(both))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 10), torch.randn(64)), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
