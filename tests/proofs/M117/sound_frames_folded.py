import torch
from torch import nn


class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.frame, self.lstm, self.out = (
            nn.Conv2d(3, 8, 3),
            nn.LSTM(8, 8, num_layers=2, bidirectional=True),
            nn.Linear(32, 4),
        )

    def forward(self, clips):
        b, t = clips.shape[:2]
        h = self.frame(clips.view(b * t, *clips.shape[2:])).mean((2, 3)).view(b, t, -1)
        _, (last, _) = self.lstm(h.transpose(0, 1))
        last = last.view(2, 2, b, 8)[-1]
        both = last.transpose(0, 1).reshape(b, -1)
        return self.out(torch.cat([both, h.max(1).values, h.mean(1)], 1))


torch.manual_seed(0)
net = Video()
optimizer = torch.optim.Adam(net.parameters())
for step in range(6):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(torch.randn(8, 5, 3, 6, 6)), torch.randint(0, 4, (8,))).backward()
    optimizer.step()
