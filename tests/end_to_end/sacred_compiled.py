"""Models, steps, optimizers and functions that are compiled: the same graphs, breaks and results."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(F.dropout(F.relu(self.norm(self.hidden(x))), 0.1, self.training))


def counters():
    from torch._dynamo.utils import counters

    stats = {key: counters["stats"][key] for key in ("calls_captured", "unique_graphs")}
    return stats, sum(counters["graph_break"].values()), dict(counters["recompiles"])


def loop(model, optimizer, step):
    torch.manual_seed(0)
    for _ in range(5):
        x, y = torch.randn(6, 4), torch.randint(3, (6,))
        print(step(model, optimizer, x, y).item(), flush=True)
    model.eval()
    with torch.no_grad():
        print(model(torch.ones(2, 4)).sum().item())
    model.train()
    print(counters())
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


def plain_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss


def whole_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y) + nn.MSELoss()(x, x)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss


torch.manual_seed(0)
warm = Net()
loop(warm, torch.optim.Adam(warm.parameters()), plain_step)  # steps before anything is compiled
for make in (
    lambda: torch.compile(Net(), backend="aot_eager"),
    lambda: (net := Net(), net.compile(backend="aot_eager"))[0],
    lambda: torch.compile(Net(), backend="eager", fullgraph=True),
    lambda: torch.compile(Net(), backend="aot_eager", dynamic=True),
):
    torch.manual_seed(0)
    model = make()
    loop(model, torch.optim.Adam(model.parameters()), plain_step)
torch.manual_seed(0)
net = Net()
loop(net, torch.optim.Adam(net.parameters()), torch.compile(whole_step, backend="aot_eager"))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)


@torch.compile(backend="aot_eager")
def update():
    optimizer.step()
    scheduler.step()


def with_compiled_optimizer(model, _, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    update()
    return loss


loop(net, optimizer, with_compiled_optimizer)


@torch.compile(backend="aot_eager")
def modes(x):
    with torch.set_grad_enabled(False):
        y = x * 2
    with torch.no_grad(), torch.autocast("cpu"):
        net.train()
        net.eval()
        z = nn.init.normal_(x.clone())
    return (y + z).sum() + torch.utils.checkpoint.checkpoint(net, x, use_reentrant=False).sum()


for _ in range(3):
    print(modes(torch.ones(2, 4)).item())
print(counters())
inner = torch.compile(lambda p, x: torch.func.grad(lambda p: F.mse_loss(x @ p, x))(p), backend="aot_eager")
print(inner(torch.eye(4), torch.ones(2, 4)).sum().item(), counters())
