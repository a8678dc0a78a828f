"""Whether a transformation of torch.func (vmap, grad, jvp) is at work: the values of its tensors are out of reach."""

from __future__ import annotations

import torch

_peek = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)


def is_transforming() -> bool:
    """Whether the code that runs now is being transformed."""
    return _peek is not None and _peek() is not None
