# estimate_loss before the first step and every few steps, train() never called.
# line: 28
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(256, 4), torch.randint(0, 2, (256,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(16, 2)

    def forward(self, x, y=None):
        logits = self.head(self.body(x))
        return logits, None if y is None else nn.functional.cross_entropy(logits, y)


def batch():
    idx = torch.randint(0, 256, (32,))
    return x[idx], y[idx]


@torch.no_grad()
def estimate_loss():
    model.eval()
    return torch.stack([model(*batch())[1] for _ in range(4)]).mean().item()


model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    if step % 5 == 0:
        print(step, estimate_loss())
    _, loss = model(*batch())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
