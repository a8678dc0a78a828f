"""The lines of a user's source file, as Python counts them."""

from __future__ import annotations

import io
import linecache
import os
import tokenize
from functools import lru_cache


def source_lines(path: str) -> tuple[str, ...]:
    """All lines of `path`, without line ends; empty when it cannot be read.

    Names that are no file (`<stdin>`, a notebook cell) are looked up where Python keeps their text for tracebacks.
    """
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        # Not linecache.getlines, which searches sys.path for other files of that name.
        entry = linecache.cache.get(path, ())
        return tuple(line.rstrip("\r\n") for line in entry[2]) if len(entry) == 4 else ()
    return _read(path, state.st_mtime_ns, state.st_size)


def source_line(path: str, line: int) -> str:
    """Line `line` (from 1) of `path`; empty when there is none."""
    lines = source_lines(path)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=256)
def _read(path: str, _modified: int, _size: int) -> tuple[str, ...]:
    try:
        with open(path, "rb") as file:
            content = file.read()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding, errors="replace")
    except (OSError, SyntaxError, ValueError):
        return ()
    # Not str.splitlines: it also splits at form feeds and other separators that are no line ends to Python.
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
