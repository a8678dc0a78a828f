"""Whether a loss is finite, asked only where the answer waits for nothing.

The value of a number on the CPU is read from its memory: no operator runs, and no method that the program may have
replaced.
"""

from __future__ import annotations

import ctypes
import math
import struct
from typing import Any

import torch

from torchcaliper.run.unseen import unseen

#: how types of two bytes are laid out in memory, and those that ctypes knows
_LAYOUTS = {torch.float16: struct.Struct("=e")}
_TYPES: dict[torch.dtype, Any] = {torch.float32: ctypes.c_float, torch.float64: ctypes.c_double}


def value_of(tensor: Any) -> float | None:
    """The value of a single number on the CPU; None where it is none, or where asking would wait for a device."""
    if type(tensor) is not torch.Tensor:
        return None
    if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
        with unseen():
            return _read(tensor)
    return _read(tensor)


def _read(tensor: torch.Tensor) -> float | None:
    if not tensor.is_cpu or tensor.dim() or tensor.layout is not torch.strided:
        return None
    try:
        address = tensor.data_ptr()
    except RuntimeError:  # inside torch.func
        return None
    if not address:
        return None
    dtype = tensor.dtype
    known = _TYPES.get(dtype)
    if known is not None:
        return float(known.from_address(address).value)
    layout = _LAYOUTS.get(dtype)
    if layout is not None:
        return float(layout.unpack(ctypes.string_at(address, layout.size))[0])
    if dtype is torch.bfloat16:  # the upper half of a float32
        return float(struct.unpack("<f", b"\0\0" + _little_endian(ctypes.string_at(address, 2)))[0])
    return None


def _little_endian(two: bytes) -> bytes:
    return two if struct.pack("=H", 1) == b"\1\0" else two[::-1]


def is_certainly_bad(tensors: Any) -> bool:
    """Whether a loss on the CPU is NaN or infinite."""
    if not isinstance(tensors, torch.Tensor):
        if len(tensors) != 1:
            return False
        tensors = tensors[0]
    value = value_of(tensors)
    return value is not None and not math.isfinite(value)
