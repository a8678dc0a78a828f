# After some hundred quick steps, the function that trains is used to validate as well, on another loader.
# line: 19
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(320, 6), torch.randint(0, 2, (320,))
training = DataLoader(TensorDataset(x[:256], y[:256]), batch_size=16, shuffle=True)
validation = DataLoader(TensorDataset(x[256:], y[256:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
adam = torch.optim.Adam(net.parameters())


def epoch(loader, learn):
    total = 0.0
    for inputs, labels in loader:
        with torch.set_grad_enabled(learn):
            loss = nn.functional.cross_entropy(net(inputs), labels)
        if learn:
            adam.zero_grad()
            loss.backward()
            adam.step()
        total += loss.item()
    return total / len(loader)


for number in range(40):
    epoch(training, True)
    if number >= 20 and number % 4 == 0:
        epoch(validation, False)
