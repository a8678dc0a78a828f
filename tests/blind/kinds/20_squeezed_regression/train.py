import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Trainer:
    def __init__(self, model, lr):
        self.model, self.opt = model, torch.optim.Adam(model.parameters(), lr=lr)

    def loss(self, x, y):
        prediction = self.model(x).squeeze(-1)
        return ((prediction - y) ** 2).mean()

    def fit(self, loader, epochs):
        for _ in range(epochs):
            self.model.train()
            for x, y in loader:
                self.opt.zero_grad()
                self.loss(x, y).backward()
                self.opt.step()

    @torch.no_grad()
    def score(self, loader):
        self.model.eval()
        total = sum(self.loss(x, y).item() * len(x) for x, y in loader)
        return total / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(700, 6)
    data = TensorDataset(x, x.prod(1) + x.sum(1))
    train, val = random_split(data, [600, 100])
    trainer = Trainer(nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1)), 3e-3)
    trainer.fit(DataLoader(train, batch_size=30, shuffle=True), 4)
    print(f"{trainer.score(DataLoader(val, batch_size=50)):.4f}")
