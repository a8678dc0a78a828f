"""Loss functions (the loss modules of torch call them too)."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from torchcaliper.run.events import LossCall
from torchcaliper.run.finiteness import is_certainly_bad

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
            if error is None and not (isinstance(result, torch.Tensor) and is_certainly_bad(result)):
                return
            session.rest.end()
            event.site = session.site(sys._getframe(2))
        if error is not None:
            session.failed("loss", error, event.site)
            return
        event.value = result
        session.emit("loss_end", event)

    session.patches.around(F, name, before, after)
