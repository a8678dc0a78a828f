import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    """Frames folded into the batch, neighbours stacked, states of two directions put side by side."""

    def __init__(self):
        super().__init__()
        self.conv, self.rnn = nn.Conv2d(1, 4, 3, 2, 1), nn.LSTM(2 * 64, 16, num_layers=2, bidirectional=True)
        self.head = nn.Linear(64, 3)

    def forward(self, x):
        B, T = x.shape[:2]
        h = torch.relu(self.conv(x.view(B * T, 1, 8, 8)))
        h = h.view(B, T, -1)
        h = h.view(B, T // 2, 2 * h.size(2))
        _, (state, _) = self.rnn(h.transpose(0, 1))
        state = state.view(2, 2, B, 16)
        return self.head(state.permute(2, 0, 1, 3).reshape(B, -1))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 6, 1, 8, 8), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
