# A weight drawn with requires_grad=True and scaled at once: the update by hand reads None.
# line: 7
import torch

torch.manual_seed(0)
x, y = torch.randn(32, 3), torch.randn(32, 1)
w = torch.randn(3, 1, requires_grad=True) * 0.1
b = torch.zeros(1, requires_grad=True)
for step in range(3):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward(retain_graph=True)
    with torch.no_grad():
        b -= 0.1 * b.grad
        b.grad = None
        if w.grad is not None:
            w -= 0.1 * w.grad
