import torch
from digest import tell
from torch import nn
from torch.nn.modules import module as modules

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
log = []
model[0].register_forward_pre_hook(lambda m, args: log.append("pre"))
model[0].register_forward_hook(lambda m, args, kwargs, out: log.append(tuple(out.shape)), with_kwargs=True)
model[1].register_full_backward_hook(lambda m, gi, go: log.append(("back", len(gi))))
model[1].register_full_backward_pre_hook(lambda m, go: log.append("back pre"))
model.register_state_dict_pre_hook(lambda m, prefix, keep: log.append("state"))
model.register_load_state_dict_post_hook(lambda m, keys: log.append("loaded"))
handle = modules.register_module_forward_hook(lambda m, args, out: log.append(type(m).__name__))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append(("step", len(args), len(kwargs))))
optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("stepped"))
optimizer.register_state_dict_pre_hook(lambda o: log.append("optimizer state"))
for parameter in model.parameters():
    parameter.register_hook(lambda g: g * 2)
    parameter.register_post_accumulate_grad_hook(lambda p: log.append(tuple(p.grad.shape)))
for _ in range(3):
    optimizer.zero_grad()
    out = model(torch.randn(2, 3))
    out.register_hook(lambda g: log.append("out"))
    out.grad_fn.register_prehook(lambda g: log.append("node"))
    out.retain_grad()
    out.sum().backward()
    optimizer.step()
    tell(out.grad, [key for key in out.grad_fn.metadata if "torchcaliper" not in str(key)])
handle.remove()
model.load_state_dict(model.state_dict())
print(log)
print(model[0]._forward_hooks.keys(), modules._global_forward_hooks, len(optimizer._optimizer_step_pre_hooks))
tell(model)
# In-backward optimization: an optimizer that steps within a backward.
inside = {p: torch.optim.SGD([p], lr=0.1) for p in model.parameters()}


def step_now(p):
    inside[p].step()
    inside[p].zero_grad()


for p in inside:
    p.register_post_accumulate_grad_hook(step_now)
for _ in range(4):
    model(torch.randn(2, 3)).sum().backward()
tell(model, next(iter(inside.values())))
