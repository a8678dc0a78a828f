"""Using a model without leaving a trace: values, gradients, modes and random numbers are put back."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


@contextmanager
def untouched(model: Any) -> Iterator[None]:
    """Put back, afterwards, all that calling, training and converting the model changes.

    Parameters and buffers keep their identity; plain attributes of modules (counters, caches) are put back as well.
    """
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    tensors = {id(t): t for m in modules for t in [*m._parameters.values(), *m._buffers.values()] if t is not None}
    values = [(t, t.data, t.detach().clone(), t.grad, _copy(t.grad), t.requires_grad) for t in tensors.values()]
    states = [
        (m, dict(m.__dict__), dict(m._parameters), dict(m._buffers), dict(m._modules), _plain(m)) for m in modules
    ]
    numpy = sys.modules.get("numpy")
    generators = random.getstate(), numpy.random.get_state() if numpy is not None else None
    devices = sorted({t.device.index or 0 for t in tensors.values() if t.device.type == "cuda"})
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(generators[0])
        if numpy is not None:
            numpy.random.set_state(generators[1])
        for module, state, parameters, buffers, children, containers in states:
            module.__dict__.clear()
            module.__dict__.update(state)
            for registry, entries in (
                (module._parameters, parameters),
                (module._buffers, buffers),
                (module._modules, children),
            ):
                registry.clear()
                registry.update(entries)  # type: ignore[arg-type]
            for container, content in containers:
                _refill(container, content)
        with torch.no_grad():
            for tensor, data, value, grad, gradient, required in values:
                if tensor.data_ptr() != data.data_ptr() or tensor.dtype != data.dtype:
                    tensor.data = data
                if not _same(tensor, value):
                    tensor.data.copy_(value)
                if tensor.requires_grad != required:
                    tensor.requires_grad_(required)
                tensor.grad = grad
                if grad is not None and gradient is not None and not _same(grad, gradient):
                    grad.data.copy_(gradient)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode inside `untouched`, set without calling the model's own `eval`."""
    for module in model.modules() if isinstance(model, nn.Module) else ():
        module.__dict__["training"] = False
    yield


def _copy(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor.detach().clone()


def _same(first: torch.Tensor, second: torch.Tensor) -> bool:
    if first.shape != second.shape or first.dtype != second.dtype or first.device != second.device:
        return False
    return bool(torch.equal(first.view(torch.uint8), second.view(torch.uint8))) if _bytes(first, second) else False


def _bytes(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether both can be compared byte by byte, NaN included."""
    return all(
        t.layout is torch.strided and t.dim() > 0 and t.is_contiguous() and not t.is_meta for t in (first, second)
    )


def _plain(module: nn.Module) -> list[tuple[Any, Any]]:
    """The module's own lists, dictionaries and sets, with what is in them."""
    registries = ("_parameters", "_buffers", "_modules")
    return [(v, v.copy()) for n, v in module.__dict__.items() if type(v) in (list, dict, set) and n not in registries]


def _refill(container: Any, content: Any) -> None:
    if container == content if type(container) is set else _identical(container, content):
        return
    container.clear()
    if isinstance(container, list):
        container.extend(content)
    else:
        container.update(content)


def _identical(first: Any, second: Any) -> bool:
    if len(first) != len(second):
        return False
    pairs = (
        zip(first, second, strict=True) if isinstance(first, list) else zip(first.items(), second.items(), strict=True)
    )
    return all(a is b or (isinstance(a, tuple) and a[0] is b[0] and a[1] is b[1]) for a, b in pairs)
