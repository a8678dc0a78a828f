"""Whether the program hooks into gradients: what it hooked would run if we took a gradient of our own."""

from __future__ import annotations

import functools
from typing import Any

import torch


class HookWatch:
    """Notices hooks on tensors and on saved tensors that are made while it is on (during a look)."""

    _PLACES = (
        (torch.Tensor, "register_hook"),
        (torch.Tensor, "retain_grad"),
        (torch.autograd.graph.saved_tensors_hooks, "__enter__"),
    )

    def __init__(self) -> None:
        self.seen = False
        self._made: list[tuple[type, str, Any, Any]] = []  # owner, name, original (None: inherited), replacement

    def put_on(self) -> None:
        self.seen = False
        if self._made:
            return
        for owner, name in self._PLACES:
            original = getattr(owner, name, None)
            if original is not None:
                replacement = self._noticing(original)
                own = vars(owner).get(name)
                setattr(owner, name, replacement)
                self._made.append((owner, name, own, replacement))

    def _noticing(self, original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.seen = True
            return original(*args, **kwargs)

        return call

    def take_off(self) -> None:
        while self._made:
            owner, name, original, replacement = self._made.pop()
            if vars(owner).get(name) is not replacement:
                continue
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
