"""The lines of a user's source file, as Python counts them."""

from __future__ import annotations

import io
import linecache
import os
import tokenize
from bisect import bisect_right
from functools import lru_cache

#: texts that are not, or not yet, on the disk: what an editor sends under a file's name
_kept: dict[str, tuple[str, ...]] = {}


def keep(path: str, text: str) -> None:
    """Take a text for the content of `path` from now on."""
    _kept[path] = tuple(text.split("\n"))


def source_lines(path: str) -> tuple[str, ...]:
    """All lines of `path`, without line ends; empty when it cannot be read. Of a notebook, those of its joined cells.

    Names that are no file (`<stdin>`, a notebook cell) are looked up where Python keeps their text for tracebacks.
    """
    if path in _kept:
        return _kept[path]
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        # Not linecache.getlines, which searches sys.path for other files of that name.
        entry = linecache.cache.get(path, ())
        return tuple(line.rstrip("\r\n") for line in entry[2]) if len(entry) == 4 else ()
    if path.endswith(".ipynb"):
        return _notebook(path, state.st_mtime_ns, state.st_size)[0]
    return _read(path, state.st_mtime_ns, state.st_size)


def cell_of(path: str, line: int) -> tuple[int, int] | None:
    """The cell's number and the line within it (both from 1) of a line of a notebook's joined cells."""
    if not path.endswith(".ipynb"):
        return None
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return None
    firsts = _notebook(path, state.st_mtime_ns, state.st_size)[1]
    at = bisect_right([first for _, first in firsts], line) - 1
    return (firsts[at][0], line - firsts[at][1] + 1) if at >= 0 else None


def source_line(path: str, line: int) -> str:
    """Line `line` (from 1) of `path`; empty when there is none."""
    lines = source_lines(path)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=64)
def _notebook(path: str, _modified: int, _size: int) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    from torchcaliper.source.notebook import read_notebook
    from torchcaliper.source.text import Unreadable

    try:
        with open(path, "rb") as file:
            text, cells = read_notebook(file.read())
    except (OSError, Unreadable):
        return (), ()
    return tuple(text.split("\n")), tuple((cell.number, cell.first_line) for cell in cells)


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
