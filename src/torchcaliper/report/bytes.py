"""Sizes of memory in words."""

from __future__ import annotations


def size(count: float) -> str:
    """`512 bytes`, `1.5 MiB`, `11.0 TiB`."""
    if abs(count) < 1024:
        return f"{int(count)} bytes"
    units = ["KiB", "MiB", "GiB", "TiB"]
    count /= 1024
    while abs(count) >= 1024 and len(units) > 1:
        count /= 1024
        units.pop(0)
    return f"{count:.1f} {units[0]}"
