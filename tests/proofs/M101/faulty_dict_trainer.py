# Heads in a dict of a submodule, trained by a class.
# line: 10
import torch
import torch.nn as nn


class Heads(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.by_task = {t: nn.Linear(16, 1) for t in tasks}

    def forward(self, h):
        return {t: head(h) for t, head in self.by_task.items()}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.heads = Heads(["a", "b"])

    def forward(self, x):
        return self.heads(self.body(x))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def fit(self, x, targets, steps):
        for _ in range(steps):
            self.optimizer.zero_grad(set_to_none=False)
            outputs = self.model(x)
            loss = sum(nn.functional.mse_loss(outputs[t].squeeze(1), targets[t]) for t in targets)
            loss.backward()
            self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(128, 4)
    print(Trainer(Model()).fit(x, {"a": x.sum(1), "b": x.prod(1)}, 30))
