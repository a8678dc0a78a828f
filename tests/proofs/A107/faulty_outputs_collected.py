# A trainer collects the outputs with their graphs: told once, as the cause.
# line: 25
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self, loader):
        self.net.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def predict(self, loader):
        self.net.eval()
        outputs = []
        for x, _ in loader:
            outputs.append(self.net(x))
        return torch.cat(outputs).argmax(dim=1)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(160, 4), torch.randint(0, 2, (160,))), batch_size=16)
trainer = Trainer()
for epoch in range(3):
    trainer.fit(loader)
    print(trainer.predict(loader).float().mean().item())
