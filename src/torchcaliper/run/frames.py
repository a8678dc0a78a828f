"""Reading the variables of a user's frame without leaving a trace in the program."""

from __future__ import annotations

import inspect
import sys
from types import FrameType
from typing import Any

#: Before Python 3.13 `frame.f_locals` fills the very dictionary that a call of `locals()` in that frame has returned,
#: so reading it would add entries to a dictionary that the program may have kept. Such frames are left alone.
_SHOWS_LOCALS = frozenset(("locals", "vars", "eval", "exec", "dir"))
_SNAPSHOT = sys.version_info < (3, 13)


def locals_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame by name; empty where reading them could be seen by the program.

    The interpreter (before 3.13) keeps the dictionary it fills for as long as the frame lives, and with it everything
    the variables named at that moment; so it is emptied again.
    """
    optimised = bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)
    if not optimised:
        return dict(frame.f_locals)
    if not _SNAPSHOT:
        return dict(frame.f_locals)
    if _SHOWS_LOCALS.intersection(frame.f_code.co_names):
        return {}
    snapshot = frame.f_locals
    found = dict(snapshot)
    snapshot.clear()
    return found
