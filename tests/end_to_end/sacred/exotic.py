import torch
from digest import tell
from torch import nn

torch.manual_seed(0)
# complex, double, nested, sparse, quantised, in-place, data, no parameters at all, shared storages
spectral = nn.Linear(3, 3, dtype=torch.complex64)
optimizer = torch.optim.Adam(spectral.parameters())
for _ in range(3):
    optimizer.zero_grad()
    spectral(torch.randn(2, 3, dtype=torch.complex64)).abs().sum().backward()
    optimizer.step()
tell(spectral)
ragged = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged, requires_grad=True)
layer = nn.Linear(3, 2)
out = layer(ragged)
out.values().sum().backward()
tell(layer, ragged.grad.values())
weights = torch.eye(3).to_sparse().requires_grad_()
torch.sparse.mm(weights, torch.ones(3, 2)).sum().backward()
tell(weights.grad)
manual = torch.randn(3, requires_grad=True)
for _ in range(5):
    loss = (manual**2).sum()
    loss.backward()
    with torch.no_grad():
        manual -= 0.1 * manual.grad
        manual.grad.zero_()
tell(manual, manual._version)
model = nn.Linear(2, 2)
model.weight.data.mul_(2)
torch.manual_seed(1)
for value in (torch.tensor(float("nan")), torch.tensor(float("inf"))):
    nn.functional.mse_loss(model(torch.ones(1, 2) * value), torch.zeros(1, 2)).backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    tell(model)
quantised = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 4)), {nn.Linear}, torch.qint8)
tell(quantised(torch.ones(1, 4)))
parallel = nn.DataParallel(nn.Linear(2, 2))
parallel(torch.ones(1, 2)).sum().backward()
tell(parallel, type(parallel(torch.ones(1, 2))).__name__)
with torch.random.fork_rng():
    torch.manual_seed(5)
    nn.functional.dropout(torch.ones(4), 0.5)
empty = nn.Linear(0, 2)
empty(torch.ones(3, 0)).sum().backward()
tell(empty)
torch.use_deterministic_algorithms(True)
torch.set_deterministic_debug_mode("error")
table = nn.EmbeddingBag(5, 3)
optimizer = torch.optim.Adam(table.parameters(), amsgrad=True, fused=True)
for _ in range(9):
    optimizer.zero_grad()
    table(torch.tensor([[0, 1], [2, 3]])).sum().backward()
    optimizer.step()
tell(table, optimizer)
copies = [nn.Parameter(torch.zeros(1000)) for _ in range(3)]
torch.optim.SGD(copies, lr=1.0)
with torch.inference_mode():
    inner = nn.Linear(2, 2)
    tell(inner(torch.ones(1, 2)))
