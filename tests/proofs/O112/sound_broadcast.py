# The weights of the first worker are handed to all workers, itself among them, after each round.
import torch
from torch import nn

torch.manual_seed(0)
workers = [nn.Linear(4, 1) for _ in range(3)]
optimizers = [torch.optim.SGD(w.parameters(), lr=0.05) for w in workers]
x = torch.randn(96, 4)
y = x.sum(1, keepdim=True)
for round_ in range(12):
    for k, (worker, optimizer) in enumerate(zip(workers, optimizers)):
        loss = nn.functional.mse_loss(worker(x[k * 32 : k * 32 + 32]), y[k * 32 : k * 32 + 32])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for same in zip(*(w.parameters() for w in workers)):
            same[0].copy_(torch.stack(same).mean(0))
    for worker in workers:
        worker.load_state_dict(workers[0].state_dict())
print(f"loss {loss.item():.4f}")
