import torch
import torch.nn as nn
import torch.nn.functional as F


class ImageGpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(25, 16), nn.Linear(16, 25)
        self.start = nn.Parameter(torch.zeros(16))
        self.rnn = nn.GRU(16, 16)

    def forward(self, ids):
        h = self.embed(ids)
        h = torch.cat([self.start.expand(1, ids.shape[1], 16), h[:-1]])
        return self.head(self.rnn(h)[0])


torch.manual_seed(0)
model = ImageGpt()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (12, 6))
    loss = F.cross_entropy(model(ids).view(-1, 25), ids.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
