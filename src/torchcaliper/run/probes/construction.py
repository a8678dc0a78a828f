"""Modules being constructed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torch import nn

from torchcaliper.run.events import ModuleMade
from torchcaliper.run.objects import constructor_frame

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    local = session.local

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module = args[0]
        return module, session.site(constructor_frame(sys._getframe(2), module))

    def after(call: Any, result: Any, error: BaseException | None) -> None:
        module, site = call
        if error is not None:
            return
        serial = session.objects.note_made(module, site)
        forward = local.forward
        if forward is not None:
            forward.built.append((module, site))
        session.emit("module_made", ModuleMade(module, site, serial))

    session.patches.around(nn.Module, "__init__", before, after)
