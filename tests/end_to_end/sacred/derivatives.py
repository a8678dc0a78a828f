import torch
from digest import tell
from torch import nn
from torch.autograd import forward_ad

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    x = torch.randn(4, 3, requires_grad=True)
    (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    penalty = ((slope.norm(dim=1) - 1) ** 2).mean()
    optimizer.zero_grad()
    penalty.backward()
    optimizer.step()
    tell(penalty, x.grad)
with forward_ad.dual_level():
    dual = forward_ad.make_dual(torch.randn(2, 3), torch.ones(2, 3))
    tell(forward_ad.unpack_dual(model(dual)).tangent)
leaf = torch.randn(3, requires_grad=True)
(leaf**4).sum().backward(create_graph=True, inputs=[leaf])
second = leaf.grad
leaf.grad = None
second.sum().backward()
tell(leaf.grad)
first = (leaf * 2).sum()
first.backward(retain_graph=True)
first.backward()
torch.autograd.backward([(leaf * 3).sum(), leaf * 2], [None, torch.ones(3)])
torch.autograd.backward(iter([(leaf * 3).sum()]))
tell(leaf.grad, torch.autograd.functional.hessian(lambda t: t.pow(3).sum(), leaf.detach()))


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            inner = ctx.saved_tensors[0].detach().requires_grad_()
            inner.pow(2).sum().backward()
        return gradient * 2 + inner.grad


Twice.apply(leaf).sum().backward()
tell(leaf.grad, torch.autograd.gradcheck(torch.sin, leaf.detach().double().requires_grad_()))
with torch.autograd.detect_anomaly():
    model(torch.randn(2, 3)).sum().backward()
tell(model)
with torch.autograd.set_multithreading_enabled(False):
    model(torch.randn(2, 3)).sum().backward()
tell(model)
