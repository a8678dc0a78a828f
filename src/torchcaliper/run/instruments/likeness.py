"""Modules of one architecture: which are twins, which share memory, which are trained, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchcaliper.run import walk

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: values kept of one tensor, evenly spread, and tensors kept of one module
_VALUES = 64
_TENSORS = 4


def architecture(module: nn.Module) -> tuple[Any, ...]:
    """Equal for modules that were built alike: names and shapes of the parameters."""
    return tuple((name, None if is_lazy(p) else tuple(p.shape)) for name, p in walk.named_parameters(module))


def storages(module: nn.Module) -> set[int]:
    """Addresses of a module's parameters."""
    return {p.data_ptr() for p in walk.parameters(module) if p.numel()}


def same_memory(first: nn.Module, second: nn.Module) -> bool:
    """All parameters of the two are the same memory."""
    mine = storages(first)
    return bool(mine) and mine == storages(second)


def trained(session: Session, module: nn.Module) -> list[int]:
    """The optimizers that have stepped and hold a parameter of the module."""
    mine = {id(p) for p in walk.parameters(module)}
    return [
        number
        for number, optimizer in session.objects.optimizers()
        if session.run.ledger.optimizers[number].steps
        and any(id(p) in mine for group in optimizer.param_groups for p in group["params"])
    ]


def twins(session: Session, module: nn.Module) -> Iterable[nn.Module]:
    """Other living modules of the same architecture: called ones, and those inside of called ones."""
    shape = architecture(module)
    seen = {id(module)}
    for _, root in session.objects.roots():
        for candidate in walk.modules(root):
            if id(candidate) not in seen and type(candidate) is type(module):
                seen.add(id(candidate))
                if architecture(candidate) == shape:
                    yield candidate


def sample(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """Copies of some values of the first, the last and two tensors between; on their own device."""
    chosen = [t for t in tensors if t.is_floating_point() and t.numel()]
    if len(chosen) > _TENSORS:
        chosen = [chosen[i * (len(chosen) - 1) // (_TENSORS - 1)] for i in range(_TENSORS)]
    with torch.no_grad():
        copies = []
        for tensor in chosen:
            flat = tensor.detach().reshape(-1)
            copies.append(flat[:: max(1, flat.numel() // _VALUES)][:_VALUES].clone())
        return copies


def distance(first: list[torch.Tensor], second: list[torch.Tensor]) -> float:
    """Euclidean distance of two samples (waits for the device). Infinite when they cannot be compared."""
    if [t.shape for t in first] != [t.shape for t in second] or not first:
        return float("inf")
    with torch.no_grad():
        total = 0.0
        for a, b in zip(first, second, strict=True):
            total += float((a.double() - b.to(a.device).double()).pow(2).sum())
        return math.sqrt(total)
