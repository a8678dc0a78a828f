"""`torch.set_grad_enabled` called by the user's code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import GradModeSet

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        caller = sys._getframe(2)
        if session.sites.is_user(caller.f_code.co_filename):
            mode = args[1] if len(args) > 1 else kwargs.get("mode", True)
            session.emit("grad_mode", GradModeSet(bool(mode), session.site(caller)))

    session.patches.around(torch.set_grad_enabled, "__init__", before)
