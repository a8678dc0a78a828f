"""`torch.utils.swap_tensors`, which refuses tensors that have weak references: ours are not to count.

Modules use it when they are converted or loaded in place (`torch.__future__.set_swap_module_params_on_conversion`, and
always for parameters of tensor subclasses). No event comes of it: the tensor stays the same object.
"""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    if getattr(torch.utils, "weakref", None) is weakref and hasattr(torch.utils, "swap_tensors"):
        session.patches.replace(torch.utils, "weakref", SimpleNamespace(**{**vars(weakref), "getweakrefs": _theirs}))


def _theirs(thing: Any) -> list[Any]:
    """Weak references other than plain ones, which are those that we hold.

    A plain one of the program's is the very same object as ours; where it has one, torch would refuse and does not.
    """
    return [r for r in weakref.getweakrefs(thing) if type(r) is not weakref.ref or r.__callback__ is not None]
