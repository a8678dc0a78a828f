"""A training script as it is written late in the evening. It runs, its loss falls, and it is wrong five times.

python demo/digits_faulty.py                     # nothing seems to be the matter
torchcaliper run demo/digits_faulty.py           # its faults, at their lines
"""

import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width=64, depth=2, classes=10):
        super().__init__()
        self.stem = nn.Linear(64, width)
        self.blocks = [nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1)) for _ in range(depth)]
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            x = x + block(x)
        return self.head(self.drop(x))


def digits():
    pixels, labels = load_digits(return_X_y=True)
    images, labels = torch.tensor(pixels, dtype=torch.float32) / 16, torch.tensor(labels)
    order = torch.randperm(len(labels))
    train, test = order[:1400], order[1400:]
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


def accuracy(model, loader):
    correct = total = 0
    with torch.no_grad():
        for images, labels in loader:
            correct += (model(images).argmax(dim=1) == labels).sum().item()
            total += len(labels)
    return correct / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()

    torch.manual_seed(0)
    train_set, test_set = digits()
    train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=100)

    model = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)

    for epoch in range(args.epochs):
        model.train()
        running_loss = 0.0
        optimizer.zero_grad()
        for images, labels in train_loader:
            loss = criterion(model(images), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            running_loss += loss
        print(
            f"epoch {epoch}: loss {running_loss / len(train_loader):.3f}, accuracy {accuracy(model, test_loader):.3f}"
        )


if __name__ == "__main__":
    main()
