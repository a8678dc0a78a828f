"""GradScaler: scale, unscale_, step and update."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import ScalerCall
from torchcaliper.run.frames import locals_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    kind = torch.amp.GradScaler
    for method, call in (
        ("__init__", "made"),
        ("scale", "scale"),
        ("unscale_", "unscale"),
        ("step", "step"),
        ("update", "update"),
    ):
        _watch(session, kind, method, call)


def _watch(session: Session, kind: type, method: str, call: str) -> None:
    local = session.local

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ScalerCall | None:
        frame = sys._getframe(2)
        while call == "made" and frame.f_back is not None and locals_of(frame).get("self") is args[0]:
            frame = frame.f_back
        optimizer = (args[1] if len(args) > 1 else kwargs.get("optimizer")) if call in ("step", "unscale") else None
        if optimizer is not None and not session.objects.welcomes_optimizer(optimizer):
            return None
        event = ScalerCall(args[0], call, session.site(frame), optimizer)
        if call != "made":
            session.emit("scaler_begin", event)
        if call == "step":
            local.scaler = args[0]
            number = session.objects.optimizer(optimizer)
            event.stepped = False
            local.steps_before = session.run.ledger.optimizers[number].steps
        return event

    def after(event: ScalerCall, result: Any, error: BaseException | None) -> None:
        event.error = error
        if call == "step":
            local.scaler = None
            number = session.objects.optimizer(event.optimizer)
            event.stepped = session.run.ledger.optimizers[number].steps > local.steps_before
        if error is not None:
            session.failed(f"scaler.{call}", error, event.site)
        elif call == "scale":
            event.outputs = result
        session.emit("scaler_made" if call == "made" else "scaler_end", event)

    session.patches.around(kind, method, before, after)
