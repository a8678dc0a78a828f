import torch
from torch import nn


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text, self.out = nn.Linear(10, 16), nn.Linear(6, 16), nn.Linear(32, 3)
        self.token = nn.Parameter(torch.zeros(1, 16))

    def forward(self, image, text):
        parts = [self.image(image) + self.token, self.text(text)]
        mean = torch.stack(parts).mean(0)
        return self.out(torch.cat([mean, parts[0]], dim=-1))


torch.manual_seed(0)
net = Two()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(torch.randn(8, 10), torch.randn(8, 6)), torch.randint(0, 3, (8,))).backward()
    optimizer.step()
