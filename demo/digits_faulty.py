"""Handwritten digits, late on a Friday. It runs, nothing complains, and the accuracy stays poor.

    torchcaliper run demo/digits_faulty.py

recipes/train_and_land.py is the same task as it should be written.
"""

import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self, width=128, depth=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * 4 * 4, width),
        )
        self.blocks = [nn.Linear(width, width) for _ in range(depth)]
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(width, 10)

    def forward(self, images):
        x = self.features(images)
        for block in self.blocks:
            x = x + F.relu(block(x))
        return self.head(self.dropout(x))


@torch.no_grad()
def validate(model, loader):
    correct = total = 0
    for images, labels in loader:
        correct += (model(images).argmax(dim=1) == labels).sum().item()
        total += len(labels)
    return correct / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    pixels, labels = load_digits(return_X_y=True)
    images = torch.tensor(pixels, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    data = TensorDataset(images, torch.tensor(labels))
    train_set, validation_set = random_split(data, [0.8, 0.2])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    validation_loader = DataLoader(validation_set, batch_size=256)

    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)

    history = []
    for epoch in range(args.epochs):
        optimizer.zero_grad()
        for images, labels in train_loader:
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            history.append(loss)
        accuracy = validate(model, validation_loader)
        mean = sum(history[-len(train_loader) :]) / len(train_loader)
        rate = optimizer.param_groups[0]["lr"]
        print(f"epoch {epoch}: loss {mean:.3f}, accuracy {accuracy:.1%}, lr {rate:.1e}", flush=True)


if __name__ == "__main__":
    main()
