# Numbers and detached tensors are kept, beside one previous loss.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
losses, outputs, previous, running = [], [], None, 0.0
for step in range(40):
    i = (step % 16) * 16
    out = model(x[i : i + 16])
    loss = nn.functional.mse_loss(out, y[i : i + 16])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    outputs.append(out.detach())
    running += loss.detach()
    if previous is not None and abs(previous.item() - loss.item()) < 1e-6:
        break
    previous = loss
print(f"loss {running.item() / len(losses):.4f}")
