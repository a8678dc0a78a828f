import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.frame = nn.Linear(12, 8)
        self.lstm, self.gru = nn.LSTM(8, 16, batch_first=True), nn.GRU(8, 16)
        self.out = nn.Linear(32, 3)

    def forward(self, clips):
        frames = [torch.relu(self.frame(clips[:, t])) for t in range(clips.shape[1])]
        one, _ = self.lstm(torch.stack(frames, dim=1))
        two, _ = self.gru(torch.stack(frames))
        return self.out(torch.cat([one[:, -1], two[-1]], dim=1))


torch.manual_seed(0)
net = Video()
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(160, 6, 12), torch.randint(0, 3, (160,))), 16, shuffle=True):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
