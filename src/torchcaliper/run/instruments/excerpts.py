"""Values of gradients, looked at on suspicion only: reading one waits for its device."""

from __future__ import annotations

from typing import Any

import torch

#: elements that are compared
_ELEMENTS = 64
#: largest gradient that is searched for non-zero values
_SEARCHED = 1_000_000


def _plain(tensor: torch.Tensor) -> torch.Tensor | None:
    """The dense tensor of this process; None where there is none."""
    to_local = getattr(tensor, "to_local", None)
    plain: Any = to_local() if to_local is not None else tensor
    if type(plain) is not torch.Tensor or plain.layout is not torch.strided or plain.is_meta or plain.numel() == 0:
        return None
    return plain


def excerpt(gradient: torch.Tensor) -> torch.Tensor | None:
    """A copy of the first elements, on the same device."""
    plain = _plain(gradient)
    if plain is None:
        return None
    with torch.no_grad():
        return plain.detach().reshape(-1)[:_ELEMENTS].clone()


def same(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two excerpts are equal."""
    return first.shape == second.shape and first.dtype == second.dtype and torch.equal(first, second)


def is_zero(gradient: torch.Tensor) -> bool:
    """Whether every element is zero. What cannot be looked at counts as zero: nothing is said of it."""
    plain = _plain(gradient)
    if plain is None:
        return True
    with torch.no_grad():
        flat = plain.detach().reshape(-1)
        return not bool(torch.count_nonzero(flat[: min(flat.numel(), _SEARCHED)]).item())
