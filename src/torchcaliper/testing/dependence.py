"""Which part of the output depends on which part of the input, found by changing the input."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.testing.untouched import evaluating, untouched

#: positions tried in a long sequence
_POSITIONS = 8
#: difference, as a share of the largest output, up to which two results are the same: sums in another order
_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 3e-2}


def assert_causal(model: Any, x: torch.Tensor, *, dim: int = 1, tolerance: float | None = None) -> None:
    """Fail if an output at some position depends on the input at a later one.

    `x`: one batch, its positions along `dim` (tokens or features); the first tensor that the model returns has its
    positions along the same dimension. The model is called in evaluation mode, in double precision where it can be.
    Everything about it is as before afterwards. AssertionError names the positions and the difference; ValueError when
    the output has no such dimension.
    """
    with untouched(model), evaluating(model), torch.no_grad():
        call, x = _exact(model, x)
        length = x.shape[dim]
        if length < 2:
            raise ValueError(f"x has {length} position along dimension {dim}: two are needed")
        plain = call(x)
        if plain.dim() <= dim or plain.shape[dim] != length:
            raise ValueError(f"the output {list(plain.shape)} has no dimension {dim} with the {length} positions of x")
        _same_twice(call, x, plain)
        for position in _spread(length):
            if position == 0:
                continue
            changed = _changed(x, dim, slice(position, None))
            before = call(changed).narrow(dim, 0, position)
            difference, at = _largest(before, plain.narrow(dim, 0, position), dim)
            limit = _limit(plain, tolerance)
            if not difference <= limit:
                raise AssertionError(
                    f"not causal: the output at position {at} changes by {difference:.3g} when the input is changed at "
                    f"positions {position} to {length - 1} only (outputs are up to {_size(plain):.3g}; "
                    f"tolerance {limit:.1g})"
                )


def assert_independent_samples(model: Any, x: torch.Tensor, *, tolerance: float | None = None) -> None:
    """Fail if the output of one sample depends on the other samples of its batch.

    `x`: a batch of two or more, along dimension 0. Evaluation mode, double precision where it can be; BatchNorm then
    uses its running statistics. Everything about the model is as before afterwards.
    """
    with untouched(model), evaluating(model), torch.no_grad():
        call, x = _exact(model, x)
        samples = x.shape[0]
        if samples < 2:
            raise ValueError("x has one sample: two are needed")
        plain = call(x)
        if not plain.dim() or plain.shape[0] != samples:
            raise ValueError(f"the output {list(plain.shape)} has not the {samples} samples of x along dimension 0")
        _same_twice(call, x, plain)
        for sample in _spread(samples):
            result = call(_changed(x, 0, slice(sample, sample + 1)))
            others = [i for i in range(samples) if i != sample]
            difference, at = _largest(result[others], plain[others], 0)
            limit = _limit(plain, tolerance)
            if not difference <= limit:
                raise AssertionError(
                    f"samples are not independent: the output of sample {others[at]} changes by {difference:.3g} when "
                    f"only sample {sample} of the batch is changed (outputs are up to {_size(plain):.3g}; "
                    f"tolerance {limit:.1g})"
                )


def _exact(model: Any, x: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """The model as a function to one tensor, in double precision where it can be called so, and its input."""
    if isinstance(model, nn.Module) and not any(p.is_meta for p in model.parameters()):
        try:
            double = copy.deepcopy(model).double()
            wide = x.double() if x.is_floating_point() else x
            first_output(double(wide))
            return (lambda given: first_output(double(given))), wide
        except Exception:  # cannot be copied; makes float32 tensors by itself; a kernel without double
            pass
    return (lambda given: first_output(model(given))), x


def first_output(result: Any) -> torch.Tensor:
    """The first floating tensor that a model returned, alone and apart from the next call's."""
    found = [t for t in tensors_in(result) if t.is_floating_point() or t.is_complex()]
    if not found:
        raise ValueError(f"the model returned {type(result).__name__}: no floating tensor in it")
    return found[0].detach().clone()


def _changed(x: torch.Tensor, dim: int, where: slice) -> torch.Tensor:
    """`x` with other values at some positions: other tokens, or numbers moved by about their own size."""
    changed = x.clone()
    index = tuple([slice(None)] * dim + [where])
    part = changed[index]
    generator = torch.Generator().manual_seed(1)
    if x.dtype is torch.bool:
        changed[index] = ~part
    elif not x.is_floating_point():
        changed[index] = _other_tokens(x, part, generator)
    else:
        noise = torch.randn(part.shape, generator=generator, dtype=torch.float64).to(part)
        scale = x.float().std().item() if x.numel() > 1 else 1.0
        changed[index] = part + noise * (scale or 1.0)
    return changed


def _other_tokens(x: torch.Tensor, part: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Tokens that occur in `x`, others than before: every one of them is valid for the model."""
    known = torch.unique(x)
    if len(known) == 1:
        return part - 1 if int(known[0]) > 0 else part + 1
    place = torch.searchsorted(known, part.contiguous())
    step = torch.randint(1, len(known), part.shape, generator=generator).to(part.device)
    other: torch.Tensor = known[(place + step) % len(known)]
    return other


def _same_twice(call: Any, x: torch.Tensor, plain: torch.Tensor) -> None:
    if not torch.equal(torch.nan_to_num(call(x)), torch.nan_to_num(plain)):
        difference = (call(x) - plain).abs().max().item()
        raise AssertionError(
            f"the model gives another result for the same input in evaluation mode (difference {difference:.3g}), so "
            "nothing can be said: see assert_deterministic_eval"
        )


def _spread(length: int) -> list[int]:
    """Positions over the whole length, the last included."""
    if length <= _POSITIONS:
        return list(range(length))
    return sorted({round(i * (length - 1) / (_POSITIONS - 1)) for i in range(_POSITIONS)} | {1})


def _largest(first: torch.Tensor, second: torch.Tensor, dim: int) -> tuple[float, int]:
    """The largest difference, and its place along `dim`; a NaN on one side only counts as infinite."""
    difference = (first - second).abs()
    both = torch.isnan(first) & torch.isnan(second)
    difference = torch.where(both | (first == second), torch.zeros_like(difference), difference)
    difference = torch.nan_to_num(difference, nan=float("inf"))
    along = difference.movedim(dim, 0).reshape(difference.shape[dim], -1).amax(1)
    at = int(along.argmax())
    return along[at].item(), at


def _size(plain: torch.Tensor) -> float:
    finite = plain[torch.isfinite(plain)]
    return finite.abs().max().item() if finite.numel() else 0.0


def _limit(plain: torch.Tensor, tolerance: float | None) -> float:
    share = _TOLERANCE.get(plain.dtype, 1e-5) if tolerance is None else tolerance
    return share * max(_size(plain), 1e-30)
