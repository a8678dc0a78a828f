import copy
import io
import pickle

import torch
from digest import digest, tell
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
        self.layers[1].weight = self.layers[0].weight

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def zero_grad(self, set_to_none=True):
        super().zero_grad(set_to_none)


class Decay(torch.optim.lr_scheduler.LRScheduler):
    def get_lr(self):
        return [group["lr"] * 0.9 for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        super().step(epoch)


class Plain(torch.optim.SGD):
    def zero_grad(self, set_to_none=True):
        super().zero_grad(set_to_none)

    def step(self, closure=None):
        return super().step(closure)


torch.manual_seed(0)
net = Net()
optimizer = Plain(net.parameters(), lr=0.1, momentum=0.9)
scheduler = Decay(optimizer)
scaler = torch.amp.GradScaler("cpu")
for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(torch.randn(2, 3)), torch.zeros(2, 3))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    net.zero_grad()
objects = {
    "net": net,
    "optimizer": optimizer,
    "scheduler": scheduler,
    "scaler": scaler,
    "loader": torch.utils.data.DataLoader([1]),
    "function": nn.functional.cross_entropy,
    "method": nn.Module.train,
    "classes": (Net, Decay, Plain, nn.Linear),
}
for name, thing in objects.items():
    copied = copy.deepcopy(thing)
    print(
        name,
        type(copied).__name__,
        sorted(getattr(thing, "__dict__", ())) if name not in ("function", "method") else "",
    )
    text = pickle.dumps(thing)
    print(len(text), b"caliper" in text, type(pickle.loads(text)).__name__)
    stream = io.BytesIO()
    torch.save(thing, stream)
    print(len(stream.getvalue()), digest(stream.getvalue()) if name in ("net", "classes", "function") else "")
tell(net, copy.deepcopy(net), copy.copy(net), optimizer, scheduler.state_dict(), scaler.state_dict())
restored = pickle.loads(pickle.dumps(scheduler))
restored.optimizer.step()
restored.step()
tell(restored.state_dict(), pickle.loads(pickle.dumps(optimizer)))
other = Net()
print(other.load_state_dict(net.state_dict()), net.load_state_dict({}, strict=False))
twin = copy.deepcopy(net)
twin.zero_grad()
twin(torch.ones(1, 3)).sum().backward()
tell(twin)
try:
    from joblib.externals import cloudpickle
except ImportError:
    cloudpickle = pickle
for name, thing in objects.items():
    print(name, b"caliper" in cloudpickle.dumps(thing))
