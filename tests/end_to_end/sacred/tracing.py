import io
import warnings

import torch
from digest import tell
from torch import fx, nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout(0.1))
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        h = F.dropout(self.inner(x), 0.2, self.training)
        with torch.set_grad_enabled(False):
            h = h + 1
        return F.mse_loss(self.out(h), torch.zeros(3, 2)) + F.cross_entropy(self.out(h), torch.tensor([0, 1, 0]))


warnings.simplefilter("ignore")
torch.manual_seed(0)
model = Net()
x = torch.randn(3, 4)
loss = model(x)  # no step and no backward before the tracers come
graph = fx.symbolic_trace(model)
print(graph.graph, graph.code, [node.target in (F.dropout, F.mse_loss, F.cross_entropy) for node in graph.graph.nodes])
tell(graph(x))
traced = torch.jit.trace(model.eval(), x)
print(traced.code)
tell(traced(x), loss)
exported = torch.export.export(model, (x,))
print(exported)
tell(exported.module()(x))
training = torch.export.export(model.train(), (x,), strict=False)
print(training.graph_module.code)
saved = io.BytesIO()
torch.export.save(exported, saved)
print(b"caliper" in saved.getvalue())
functional = torch.fx.experimental.proxy_tensor.make_fx(lambda t: F.dropout(t, 0.5).relu() + F.l1_loss(t, t))(x)
print(functional.code)
optimizer = torch.optim.SGD(graph.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    graph(x).backward()
    optimizer.step()
tell(graph, model)


class Log(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        print(target.__module__, target.__qualname__, len(args), sorted(kwargs))
        return super().call_function(target, args, kwargs)


tell(Log(graph).run(x))
