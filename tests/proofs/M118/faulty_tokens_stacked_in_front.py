# line: 16
# also: M109
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Fuse(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text, self.sound = nn.Linear(10, 16), nn.Linear(6, 16), nn.Linear(5, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(16, 4)

    def forward(self, image, text, sound):
        tokens = torch.stack([self.image(image), self.text(text), self.sound(sound)])
        return self.out(self.layer(tokens)[0])


torch.manual_seed(0)
net = Fuse()
optimizer = torch.optim.Adam(net.parameters())
data = TensorDataset(torch.randn(144, 10), torch.randn(144, 6), torch.randn(144, 5), torch.randint(0, 4, (144,)))
for image, text, sound, y in DataLoader(data, 12, shuffle=True):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(image, text, sound), y).backward()
    optimizer.step()
