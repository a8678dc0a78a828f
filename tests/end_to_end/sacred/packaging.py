import inspect
import io
import typing

import torch
from digest import tell
from torch import nn
from torch.nn import functional as F
from torch.package import PackageExporter, PackageImporter

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.1))
model(torch.ones(1, 2)).sum().backward()
stream = io.BytesIO()
with PackageExporter(stream) as exporter:
    exporter.extern("**")
    exporter.save_pickle("model", "model.pkl", {"model": model, "loss": F.cross_entropy})
stream.seek(0)
importer = PackageImporter(stream)
loaded = importer.load_pickle("model", "model.pkl")
tell(loaded["model"](torch.ones(1, 2)), loaded["loss"] is F.cross_entropy)
watched = (
    nn.Module.__init__, nn.Module.__call__, nn.Module.train, nn.Module.eval, nn.Module.zero_grad,
    nn.Module.load_state_dict, torch.optim.Optimizer.zero_grad, torch.optim.SGD.step,
    torch.jit.script, torch.optim.lr_scheduler.StepLR.step,
    torch.optim.lr_scheduler.LRScheduler.step, torch.amp.GradScaler.scale, F.cross_entropy, F.dropout, F.mse_loss,
    torch.autograd.backward, torch.autograd.grad, nn.utils.clip_grad_norm_, nn.init.xavier_uniform_, torch.compile,
    torch.utils.data.DataLoader.__iter__, torch.utils.data.DataLoader.__init__, torch.utils.swap_tensors,
    torch.Tensor.backward,
)  # fmt: skip
for function in watched:
    print(
        function.__module__, function.__qualname__, function.__name__, inspect.isfunction(function), callable(function)
    )
    print((function.__doc__ or "")[:40].strip(), inspect.signature(function), sorted(function.__annotations__))
    print(inspect.getsource(function)[:40])
print(typing.get_type_hints(F.mse_loss), sorted(typing.get_type_hints(nn.Module.train)))
print(sorted(vars(model)), sorted(vars(nn.Module)), sorted(n for n in dir(F) if "caliper" in n))
print(list(vars(torch.optim.Optimizer)), sorted(n for n in vars(nn.utils)))
from torch.overrides import get_ignored_functions, get_overridable_functions, get_testing_overrides, resolve_name  # noqa: E402

print(F.cross_entropy in get_testing_overrides(), resolve_name(F.cross_entropy), len(get_ignored_functions()))
print(sorted(len(v) for v in get_overridable_functions().values()))
torch.utils.swap_tensors(model[0].weight, nn.Parameter(torch.zeros(3, 2)))
torch.__future__.set_swap_module_params_on_conversion(True)
identity = id(model[0].weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
optimizer.zero_grad()
model.double()
print(id(model[0].weight) == identity, model[0].weight.dtype)
model.load_state_dict({name: tensor * 2 for name, tensor in model.state_dict().items()})
tell(model)
