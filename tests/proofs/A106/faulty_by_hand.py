# A recurrence written with plain tensors keeps its history; torch raises.
# line: 13
import torch

torch.manual_seed(0)
w_in = torch.randn(3, 6, requires_grad=True)
w_state = (torch.randn(6, 6) * 0.3).requires_grad_()
w_out = torch.randn(6, 1, requires_grad=True)
optimizer = torch.optim.SGD([w_in, w_state, w_out], lr=0.01)
h = torch.zeros(5, 6)
for step in range(20):
    x = torch.randn(5, 3)
    h = torch.tanh(x @ w_in + h @ w_state)
    loss = (h @ w_out - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
