# line: 13
# also: L109, L104
import torch
from torch import nn


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text, self.out = nn.Linear(10, 16), nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, image, text):
        both = torch.cat([self.image(image), self.text(text)])
        return self.out(torch.relu(both))


torch.manual_seed(0)
net = Two()
optimizer = torch.optim.Adam(net.parameters())
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(torch.randn(8, 10), torch.randn(8, 6)), torch.randint(0, 3, (8,)))
    loss.backward()
    optimizer.step()
