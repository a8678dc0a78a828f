"""`load_state_dict`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torch import nn

from torchcaliper.run.events import StateLoaded

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> StateLoaded:
        frame = session.sites.user_frame(sys._getframe(2))
        state = args[1] if len(args) > 1 else kwargs.get("state_dict")
        strict = args[2] if len(args) > 2 else kwargs.get("strict", True)
        event = StateLoaded(args[0], state, session.site(frame), frame, bool(strict))
        session.emit("load_begin", event)
        return event

    def after(event: StateLoaded, result: Any, error: BaseException | None) -> None:
        if error is not None:
            session.failed("load_state_dict", error, event.site)
        event.result, event.error = result, error
        session.emit("load_end", event)
        event.result = event.error = None
        event.frame = None

    session.patches.around(nn.Module, "load_state_dict", before, after)
