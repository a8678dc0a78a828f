import torch
from digest import tell
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x, y = torch.randn(20, 3), torch.randn(20, 1)
for optimizer in (
    torch.optim.LBFGS(model.parameters(), max_iter=5, line_search_fn="strong_wolfe"),
    torch.optim.SGD(model.parameters(), lr=0.1),
):
    calls = 0

    def closure(optimizer=optimizer):
        global calls
        calls += 1
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    for _ in range(4):
        tell(optimizer.step(closure), calls)
tell(model)
