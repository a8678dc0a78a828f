"""Loss functions (the loss modules of torch call them too)."""

from __future__ import annotations

import inspect
import math
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from torchcaliper.run.events import LossCall
from torchcaliper.run.finiteness import value_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: stands for the site of a call in a rest
_LEFT_OUT = -1
_OTHERS = ("cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div")


def install(session: Session) -> None:
    names = [n for n in dir(F) if n.endswith("_loss") and not n.startswith("_")]
    for name in [*names, *_OTHERS]:
        _watch(session, name)


def _watch(session: Session, name: str) -> None:
    original = getattr(F, name, None)
    if original is None:
        return
    try:
        names = tuple(inspect.signature(original).parameters)
    except (TypeError, ValueError):
        names = ()

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> LossCall | None:
        if session.local.backward:
            return None
        caller, grad = sys._getframe(2), torch.is_grad_enabled()
        left_out = session.rest.covers(("loss", name, id(caller.f_code), caller.f_lasti, grad))
        return LossCall(name, _LEFT_OUT if left_out else session.site(caller), args, grad, None, kwargs, names)

    def after(event: LossCall, result: Any, error: BaseException | None) -> None:
        left_out = event.site == _LEFT_OUT
        if left_out:
            if error is None and not _is_broken(result):
                return
            session.rest.end()
            event.site = session.site(sys._getframe(2))
        if error is not None:
            session.failed("loss", error, event.site)
            return
        event.value = result
        session.emit("loss_end", event)

    session.patches.around(F, name, before, after)


def _is_broken(result: Any) -> bool:
    """Whether a loss is NaN or infinite, where that can be read without waiting for a device."""
    value = value_of(result)
    return value is not None and not math.isfinite(value)
