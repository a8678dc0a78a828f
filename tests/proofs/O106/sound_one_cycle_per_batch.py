# OneCycleLR per batch.
import torch
from torch import nn
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(320, 6)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
EPOCHS = 6
scheduler = lr_scheduler.OneCycleLR(optimizer, max_lr=0.03, epochs=EPOCHS, steps_per_epoch=len(loader))

for epoch in range(EPOCHS):
    for inputs, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), target)
        loss.backward()
        optimizer.step()
        scheduler.step()
print(loss.item())
