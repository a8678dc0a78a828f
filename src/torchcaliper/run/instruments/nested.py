"""Tensors inside what the program passes around: tuples, lists, dictionaries, small objects."""

from __future__ import annotations

from typing import Any

import torch


def tensors_in(value: Any, limit: int = 8, depth: int = 3) -> list[torch.Tensor]:
    """The first `limit` tensors in a nested value, at most `depth` containers deep."""
    if isinstance(value, torch.Tensor):
        return [value]
    found: list[torch.Tensor] = []
    _collect(value, found, limit, depth)
    return found


def _collect(value: Any, found: list[torch.Tensor], limit: int, depth: int) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
        return
    if depth == 0 or value is None or isinstance(value, str | bytes | int | float):
        return
    if isinstance(value, tuple | list):
        items: Any = value[:64]
    elif isinstance(value, dict):
        items = list(value.values())[:64]
    elif isinstance(value, torch.nn.Module):
        return
    else:  # a dataclass, a distribution
        items = list(getattr(value, "__dict__", {}).values())[:16]
    for item in items:
        _collect(item, found, limit, depth - 1)
        if len(found) >= limit:
            return
