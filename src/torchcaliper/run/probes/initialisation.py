"""`torch.nn.init` called by the user's code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import init

from torchcaliper.run.events import Initialised

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    for name in [n for n in dir(init) if n.endswith("_") and not n.startswith("_")]:
        _watch(session, name)


def _watch(session: Session, name: str) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        caller = sys._getframe(2)
        if not session.sites.is_user(caller.f_code.co_filename):
            return
        tensor = args[0] if args else kwargs.get("tensor")
        if isinstance(tensor, torch.Tensor):
            session.emit("initialised", Initialised(tensor, name, session.site(caller)))

    session.patches.around(init, name, before)
