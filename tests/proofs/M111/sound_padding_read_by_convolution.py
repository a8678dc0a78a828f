import torch
from torch import nn


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.conv, self.out = nn.Conv1d(16, 12, 3), nn.Linear(12, 2)

    def forward(self, ids):
        return self.out(torch.relu(self.conv(self.embed(ids).transpose(1, 2))).amax(2))


torch.manual_seed(0)
net = TextCNN()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(1, 30, (16, 10))
    for row in range(16):
        ids[row, 4 + row % 7 :] = 0
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(ids), torch.randint(0, 2, (16,))).backward()
    optimizer.step()
