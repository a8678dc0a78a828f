"""Which values are out of reach: those of transformations (vmap, grad, jvp), of tracers, of tensors without data."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

_peek = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)


def is_transforming() -> bool:
    """Whether the code that runs now is being transformed."""
    return _peek is not None and _peek() is not None


def is_readable(tensor: Any) -> bool:
    """Whether a tensor's values may be computed with, without waiting for a device."""
    return is_plain(tensor) and tensor.device.type == "cpu"


def is_plain(tensor: Any) -> bool:
    """Whether a tensor is one of torch's own, dense, with data, outside of any transformation or tracing."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout is torch.strided
        and not tensor.is_meta
        and not is_transforming()
        and not torch._C._len_torch_dispatch_stack()
        and torch._C._get_tracing_state() is None
    )


def node_of(tensor: torch.Tensor) -> Any:
    """The autograd node of a tensor; None where there is none, or torch refuses to tell."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # a view made under no_grad whose base was changed in place outside of it
        return None


def memory_of(tensor: torch.Tensor) -> int | None:
    """Where a tensor's storage begins; None where it has none of its own."""
    if isinstance(tensor, FakeTensor):  # it would warn
        return None
    try:
        return tensor.untyped_storage().data_ptr() or None
    except (RuntimeError, NotImplementedError):  # functorch wrappers, sparse tensors
        return None
