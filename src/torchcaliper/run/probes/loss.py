"""Loss functions (the loss modules of torch call them too)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from torchcaliper.run.events import LossCall
from torchcaliper.run.rest import LEFT_OUT

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_OTHERS = ("cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div")


def install(session: Session) -> None:
    names = [n for n in dir(F) if n.endswith("_loss") and not n.startswith("_")]
    for name in [*names, *_OTHERS]:
        _watch(session, name)


def _watch(session: Session, name: str) -> None:
    if not hasattr(F, name):
        return

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> LossCall | str | None:
        if session.local.backward:
            return None
        caller, grad = sys._getframe(2), torch.is_grad_enabled()
        if session.rest.covers(("loss", name, id(caller.f_code), caller.f_lasti, grad)):
            return LEFT_OUT
        return LossCall(name, session.site(caller), args, grad)

    def after(event: LossCall | str, result: Any, error: BaseException | None) -> None:
        if error is not None:
            session.failed("loss", error, session.site(sys._getframe(2)) if isinstance(event, str) else event.site)
            return
        if isinstance(event, str):
            return
        event.value = result
        session.emit("loss_end", event)

    session.patches.around(F, name, before, after)
