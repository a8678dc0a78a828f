"""Warnings that the program is about to show: torch says some faults itself."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from torchcaliper.run.events import WarningShown
from torchcaliper.run.operators import Mode

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_LOOK = Mode.__torch_function__.__code__


def install(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        shown = args[0]
        caller = sys._getframe(2)
        if caller.f_code is _LOOK and shown.filename == _LOOK.co_filename and caller.f_back is not None:
            # A warning of an operator under a close look: its place is the caller's, not the function mode's.
            caller = caller.f_back
            shown.filename, shown.lineno = caller.f_code.co_filename, caller.f_lineno
        session.emit(
            "warning",
            WarningShown(
                str(shown.message),
                shown.category.__name__,
                str(shown.filename),
                int(shown.lineno or 0),
                session.site(caller),
            ),
        )

    # warnings calls this function of its own for every warning that the filters let through.
    session.patches.around(warnings, "_showwarnmsg", before)
