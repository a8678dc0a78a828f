import torch
from digest import tell
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, stack_module_state, vjp, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x, y = torch.randn(5, 3), torch.randn(5, 1)


def loss(parameters, x, y):
    return nn.functional.mse_loss(functional_call(model, parameters, (x,)), y)


parameters = {name: p.detach().clone() for name, p in model.named_parameters()}
tell(functional_call(model, parameters, (x,)), grad(loss)(parameters, x, y))
tell(vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y))
for _ in range(3):
    # Meta-learning: an inner step that is differentiated through.
    inner = dict(model.named_parameters())
    slopes, value = grad_and_value(loss)(inner, x, y)
    inner = {name: p - 0.1 * slopes[name] for name, p in inner.items()}
    outer = loss(inner, x, y)
    tell(outer, value, torch.autograd.grad(outer, list(model.parameters())))
tell(jacrev(lambda t: model(t).sum())(x), hessian(lambda t: model(t).sum())(x[0]))
tell(jvp(model, (x,), (torch.ones_like(x),)), vjp(model, x)[1](torch.ones(5, 1)))
tell(vmap(model)(x), vmap(lambda t: nn.functional.dropout(t, 0.5), randomness="different")(x))
models = [nn.Linear(3, 2) for _ in range(4)]
stacked, buffers = stack_module_state(models)
base = nn.Linear(3, 2, device="meta")
tell(vmap(lambda p, b: functional_call(base, (p, b), (x,)))(stacked, buffers))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    vmap(lambda a, b: nn.functional.mse_loss(model(a), b))(x, y).mean().backward()
    optimizer.step()
tell(model)
