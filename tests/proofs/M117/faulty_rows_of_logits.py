# line: 13
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 5, 1))
optimizer = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss()
data = TensorDataset(torch.randn(48, 3, 12, 12), torch.randint(0, 5, (48, 12, 12)))
for image, label in DataLoader(data, 6, shuffle=True):
    logits = net(image)
    loss = criterion(logits.view(-1, 5), label.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
