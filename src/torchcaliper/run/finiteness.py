"""Whether a loss is finite, asked only where the answer waits for nothing."""

from __future__ import annotations

import math
from typing import Any

import torch

from torchcaliper.run.unseen import unseen


def value_of(tensor: Any) -> float | None:
    """The value of a single number on the CPU; None where it is none, or where asking would wait for a device."""
    if type(tensor) is not torch.Tensor:
        return None
    with unseen():
        if tensor.device.type != "cpu" or tensor.dim() or not tensor.dtype.is_floating_point:
            return None
        try:
            return float(tensor.item())
        except RuntimeError:  # inside torch.func
            return None


def is_certainly_bad(tensors: Any) -> bool:
    """Whether a loss on the CPU is NaN or infinite."""
    if not isinstance(tensors, torch.Tensor):
        if len(tensors) != 1:
            return False
        tensors = tensors[0]
    value = value_of(tensors)
    return value is not None and not math.isfinite(value)
