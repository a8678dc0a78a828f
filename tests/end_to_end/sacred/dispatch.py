import torch
from digest import tell
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), foreach=False)
log = Log()
with log:
    for step in range(10):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.randn(5, 4)), torch.randint(2, (5,)))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log.names.append(f"-- {step}")
        tell(loss)
    model.eval()
    with torch.no_grad():
        model(torch.randn(5, 4))
print("\n".join(log.names))
flops = FlopCounterMode(display=False)
with flops:
    model.train()(torch.randn(5, 4)).sum().backward()
    optimizer.step()
print(flops.get_total_flops(), sorted(flops.get_flop_counts()))
packed = []
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: packed.append(("pack", tuple(t.shape))) or t, lambda t: packed.append(("unpack", tuple(t.shape))) or t
):
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.randn(5, 4)), torch.zeros(5, 2)).backward()
        optimizer.step()
print(packed)
with torch.autograd.graph.save_on_cpu():
    model(torch.randn(5, 4)).sum().backward()
tell(model)
