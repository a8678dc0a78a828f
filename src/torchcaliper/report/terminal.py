"""What a stream can show: colour and width."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

#: lines shorter than this are unreadable, longer ones are not read
NARROWEST, WIDEST = 60, 120


class Stream(Protocol):
    """What is asked of a stream."""

    def isatty(self) -> bool: ...

    def fileno(self) -> int: ...


def shows_colour(stream: Stream, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to write colours: never with NO_COLOR, always with FORCE_COLOR, else on a terminal that has them."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    if environment.get("TERM") == "dumb" or not stream.isatty():
        return False
    # The old Windows console prints escape sequences as they are; newer terminals announce themselves.
    return os.name != "nt" or any(environment.get(name) for name in ("WT_SESSION", "TERM_PROGRAM", "TERM", "ANSICON"))


def width_of(stream: Stream, environment: Mapping[str, str] = os.environ) -> int:
    """Columns of the terminal behind a stream: COLUMNS, else its own, else 100; within NARROWEST and WIDEST."""
    columns = environment.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return clamped(int(columns))
    try:
        return clamped(os.get_terminal_size(stream.fileno()).columns or 100)
    except (OSError, ValueError, AttributeError):
        return 100


def clamped(width: int) -> int:
    """`width`, within what a report can use."""
    return max(NARROWEST, min(WIDEST, width))
