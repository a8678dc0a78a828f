"""What is inside a module, found without calling the module.

`modules()`, `parameters()` and their kin may have been replaced by the program, with whatever effect; these give what
torch's own give.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn


def named_modules(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """As `module.named_modules()`."""
    seen: set[int] = set()
    left = [("", module)]
    while left:
        path, layer = left.pop()
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        yield path, layer
        left += [(f"{path}.{name}" if path else name, child) for name, child in reversed(list(named_children(layer)))]


def named_children(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """As `module.named_children()`, with those that are there twice."""
    return ((name, child) for name, child in module._modules.items() if child is not None)


def modules(module: nn.Module) -> Iterator[nn.Module]:
    """As `module.modules()`."""
    return (layer for _, layer in named_modules(module))


def named_parameters(module: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """As `module.named_parameters()`."""
    seen: set[int] = set()
    for path, layer in named_modules(module):
        for name, parameter in layer._parameters.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield f"{path}.{name}" if path else name, parameter


def parameters(module: nn.Module) -> Iterator[nn.Parameter]:
    """As `module.parameters()`."""
    return (parameter for _, parameter in named_parameters(module))


def buffers(module: nn.Module) -> Iterator[torch.Tensor]:
    """As `module.buffers()`, with those that are there twice."""
    return (buffer for layer in modules(module) for buffer in layer._buffers.values() if buffer is not None)
