"""Working on the program's tensors without its modes and tensor subclasses taking notice."""

from __future__ import annotations

from typing import Any

import torch


class _Unseen:
    def __init__(self) -> None:
        self._parts: tuple[Any, ...] = (torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch())

    def __enter__(self) -> None:
        for part in self._parts:
            part.__enter__()

    def __exit__(self, *error: object) -> None:
        for part in reversed(self._parts):
            part.__exit__(None, None, None)


def unseen() -> Any:
    """A context in which operators and attributes of tensors go neither through modes nor through `__torch_function__`.

    Where no dispatch mode is on, which is nearly always, it is one of torch's own, written in C: quick, and never left
    half-way by a signal.
    """
    return _Unseen() if torch._C._len_torch_dispatch_stack() else torch._C.DisableTorchFunction()
