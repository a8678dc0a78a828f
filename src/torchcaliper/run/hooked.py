"""Whether the program hooks into gradients: what it hooked would run if we took a gradient of our own."""

from __future__ import annotations

import functools
from typing import Any

import torch

from torchcaliper.run.patches import Local, invisible, trim


class HookWatch:
    """Notices hooks on tensors, nodes and saved tensors that are made while it is on (during a look)."""

    _PLACES = (
        (torch.Tensor, "register_hook"),
        (torch.Tensor, "retain_grad"),  # its gradient would get ours on top
        (torch.autograd.graph.saved_tensors_hooks, "__enter__"),
        (getattr(torch.autograd.function, "_HookMixin", None), "_register_hook"),  # nodes' own methods end there
    )

    def __init__(self, local: Local) -> None:
        self.seen = False
        self._local = local
        self._made: list[tuple[Any, str, Any, Any, bool]] = []  # owner, name, original, replacement, was its own

    def put_on(self) -> None:
        if self._made:
            return
        for owner, name in self._PLACES:
            if owner is None or not hasattr(owner, name):
                continue
            own = name in vars(owner)
            original = vars(owner)[name] if own else getattr(owner, name)
            static = isinstance(original, staticmethod)
            replacement: Any = self._noticing(original.__func__ if static else original)
            replacement = staticmethod(replacement) if static else replacement
            setattr(owner, name, replacement)
            self._made.append((owner, name, original, replacement, own))

    def look(self) -> None:
        """Notice hooks on saved tensors that were there before the look began."""
        top = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
        if top is not None and not self.seen and top(True) is not None:
            self.seen = True

    def _noticing(self, original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._local.busy:  # ours, which knows of our gradients
                self.seen = True
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                trim(error)
                raise

        return invisible(call)  # type: ignore[arg-type]

    def take_off(self) -> None:
        while self._made:
            owner, name, original, replacement, own = self._made.pop()
            if vars(owner).get(name) is not replacement:
                continue
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)
