import torch
from torch import nn
from metrics import accuracy

torch.manual_seed(4)
centers = 3 * torch.randn(5, 16)
y = torch.randint(0, 5, (1500,))
x = centers[y] + torch.randn(1500, 16)
model = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(), nn.Linear(32, 5))
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(5):
    for i in torch.randperm(1200).split(60):
        opt.zero_grad()
        loss = ce(model(x[i]), y[i])
        loss.backward()
        opt.step()
    print(epoch, f"{loss.item():.3f}", f"val {accuracy(model, x[1200:], y[1200:]):.3f}")
