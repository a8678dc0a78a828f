# zero_grad() stands in the epoch loop instead of the batch loop.
# line: 11
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer, criterion, epochs):
    for epoch in range(epochs):
        model.train()
        optimizer.zero_grad()
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


def main():
    torch.manual_seed(1)
    x = torch.randn(320, 6)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    train(model, loader, torch.optim.Adam(model.parameters(), lr=1e-3), nn.MSELoss(), epochs=3)


if __name__ == "__main__":
    main()
