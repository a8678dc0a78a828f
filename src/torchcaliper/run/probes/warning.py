"""Warnings that the program is about to show: torch says some faults itself."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from torchcaliper.run.events import WarningShown

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        shown = args[0]
        session.emit(
            "warning",
            WarningShown(
                str(shown.message),
                shown.category.__name__,
                str(shown.filename),
                int(shown.lineno or 0),
                session.site(sys._getframe(2)),
            ),
        )

    # warnings calls this function of its own for every warning that the filters let through.
    session.patches.around(warnings, "_showwarnmsg", before)
