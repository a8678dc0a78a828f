"""Gradients of a function against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.testing.untouched import untouched


def assert_gradients(
    function: Callable[..., Any], inputs: Any, *, directions: int = 4, step: float = 1e-6, tolerance: float = 1e-4
) -> None:
    """Fail if backward of `function` does not give the slope that its values have.

    `inputs`: a tensor or a tuple of arguments; the floating tensors among them are checked, in double precision. Along
    some random directions the derivative by autograd is compared with a central difference. A module is called in its
    own mode, on a copy in double precision where it can be copied; everything about it is as before afterwards.
    AssertionError names the input, both slopes and their relative difference.
    """
    arguments = inputs if isinstance(inputs, tuple | list) else (inputs,)
    with untouched(function), torch.enable_grad():
        call = _double(function)
        given = [a.detach().double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in arguments]
        places = [i for i, a in enumerate(given) if isinstance(a, torch.Tensor) and a.is_floating_point()]
        if not places:
            raise ValueError("no floating tensor among the inputs")
        seed = torch.random.get_rng_state()

        def value(values: list[Any]) -> torch.Tensor:
            torch.random.set_rng_state(seed)  # the same dropout each time
            outputs = [t for t in tensors_in(call(*values)) if t.is_floating_point()]
            if not outputs:
                raise ValueError("the function returned no floating tensor")
            return sum((_weighted(t) for t in outputs), torch.zeros((), dtype=torch.float64))

        leaves = [a.clone().requires_grad_(i in places) if i in places else a for i, a in enumerate(given)]
        result = value(leaves)
        if not result.requires_grad:
            raise AssertionError("the result has no graph: it was detached, or computed without gradients")
        gradients = torch.autograd.grad(result, [leaves[i] for i in places], allow_unused=True)
        generator = torch.Generator().manual_seed(0)
        for position, gradient in zip(places, gradients, strict=True):
            for _ in range(directions):
                _compare(value, given, position, gradient, generator, step, tolerance)


def _compare(
    value: Callable[[list[Any]], torch.Tensor],
    given: list[Any],
    position: int,
    gradient: torch.Tensor | None,
    generator: torch.Generator,
    step: float,
    tolerance: float,
) -> None:
    tensor = given[position]
    direction = torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.device)
    size = step * max(tensor.abs().max().item() if tensor.numel() else 1.0, 1.0)
    with torch.no_grad():
        ahead = value([*given[:position], tensor + size * direction, *given[position + 1 :]])
        behind = value([*given[:position], tensor - size * direction, *given[position + 1 :]])
        numeric = ((ahead - behind) / (2 * size)).item()
        analytic = 0.0 if gradient is None else (gradient * direction).sum().item()
    difference = abs(numeric - analytic)
    scale = max(abs(numeric), abs(analytic), 1e-6)
    if not difference <= tolerance * scale:
        none = " (backward gives no gradient at all: the graph is cut)" if gradient is None else ""
        raise AssertionError(
            f"wrong gradient of input {position}: along a random direction backward says {analytic:.6g}, the values "
            f"themselves change by {numeric:.6g} (relative difference {difference / scale:.2g}){none}"
        )


def _double(function: Any) -> Any:
    if not isinstance(function, torch.nn.Module):
        return function
    import copy

    return copy.deepcopy(function).double()


def _weighted(tensor: torch.Tensor) -> torch.Tensor:
    """One number in which no element cancels another."""
    weights = torch.sin(torch.arange(1, tensor.numel() + 1, dtype=torch.float64, device=tensor.device))
    return (tensor.reshape(-1).double() * weights).sum()
