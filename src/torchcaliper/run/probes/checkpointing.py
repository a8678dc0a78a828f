"""Activation checkpointing: `torch.utils.checkpoint.checkpoint` (and `checkpoint_sequential`, which calls it)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
import torch.utils.checkpoint

from torchcaliper.run.events import CheckpointCall

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> CheckpointCall | None:
        if session.local.backward or not session.hears("checkpoint_begin"):
            return None
        function = args[0] if args else kwargs.get("function")
        if function is None:
            return None
        event = CheckpointCall(
            function=function,
            args=args[1:],
            kwargs=kwargs,
            site=session.site(sys._getframe(2)),
            reentrant=kwargs.get("use_reentrant"),
            preserved=bool(kwargs.get("preserve_rng_state", True)),
            grad=torch.is_grad_enabled(),
        )
        session.emit("checkpoint_begin", event)
        return event

    def after(event: CheckpointCall, result: Any, error: BaseException | None) -> None:
        if error is None:
            event.output = result
            session.emit("checkpoint_end", event)
        event.output = None

    session.patches.around(torch.utils.checkpoint, "checkpoint", before, after)
