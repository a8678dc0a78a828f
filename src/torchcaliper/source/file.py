"""One file of a user's program, read and parsed once."""

from __future__ import annotations

import ast
import sys
import warnings
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from torchcaliper.findings import Location
from torchcaliper.source.notebook import Cell, read_notebook
from torchcaliper.source.text import Unreadable, decode


@dataclass(eq=False, slots=True)
class SourceFile:
    """A parsed file. `path` is as it is shown, `lines` are those of the text (joined cells, for a notebook)."""

    path: str
    text: str
    tree: ast.Module
    cells: tuple[Cell, ...] = ()
    _lines: list[str] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    @property
    def starts(self) -> list[int]:
        """Where each line begins in the text."""
        if not self._starts:
            self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        return self._starts

    @property
    def lines(self) -> list[str]:
        if not self._lines:
            self._lines = self.text.split("\n")
        return self._lines

    def location(self, node: ast.AST) -> Location:
        """Where a node begins. In a notebook the line is that of the joined code; see `cell_of`."""
        return Location(self.path, getattr(node, "lineno", 1), _column(self, node))

    def cell_of(self, line: int) -> tuple[int, int] | None:
        """The cell's number (from 1) and the line within it (from 1) of a line of the joined code."""
        if not self.cells:
            return None
        cell = self.cells[max(bisect_right([c.first_line for c in self.cells], line) - 1, 0)]
        return cell.number, line - cell.first_line + 1


def _column(file: SourceFile, node: ast.AST) -> int:
    """The column in characters: ast counts bytes of UTF-8."""
    offset: int = getattr(node, "col_offset", 0)
    line: int = getattr(node, "lineno", 0)
    if not offset or not 0 < line <= len(file.lines):
        return offset
    text = file.lines[line - 1]
    return offset if text.isascii() else len(text.encode("utf-8")[:offset].decode("utf-8", "replace"))


def parse(path: str, content: bytes) -> SourceFile:
    """Parse the content of a file; a name that ends with `.ipynb` makes it a notebook. Unreadable with the reason."""
    cells: tuple[Cell, ...] = ()
    if path.endswith(".ipynb"):
        text, cells = read_notebook(content)
    else:
        text = decode(content)
    try:
        with warnings.catch_warnings():
            # Invalid escapes and comparisons by `is`: the user's Python says so.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        message = f"not valid Python {sys.version_info.major}.{sys.version_info.minor}: {error.msg}"
        raise Unreadable(message, error.lineno or 0) from None
    except (RecursionError, MemoryError):
        raise Unreadable("nested too deeply to be parsed") from None
    except ValueError as error:
        raise Unreadable(f"cannot be parsed: {error}") from None
    return SourceFile(path, text, tree, cells)


def read(path: Path, shown: str) -> SourceFile:
    """Read and parse a file. Unreadable with the reason, in one line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from None
    return parse(shown, content)
