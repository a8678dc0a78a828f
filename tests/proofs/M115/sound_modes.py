# eval() and train() where they belong, and Monte-Carlo dropout with the mode restored.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train_loader = DataLoader(TensorDataset(torch.randn(96, 4), torch.randn(96, 1)), batch_size=16, shuffle=True)
val_loader = DataLoader(TensorDataset(torch.randn(48, 4), torch.randn(48, 1)), batch_size=16)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


@torch.no_grad()
def uncertainty(x, draws=10):
    was = model.training
    model.train()
    spread = torch.stack([model(x) for _ in range(draws)]).std(dim=0).mean()
    model.train(was)
    return spread.item()


for epoch in range(3):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = sum(criterion(model(x), y).item() for x, y in val_loader) / len(val_loader)
    print(epoch, val, [uncertainty(x) for x, _ in val_loader])
