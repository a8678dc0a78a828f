"""The code of a Jupyter notebook as one text, and back from its lines to cells."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from torchcaliper.source.text import Unreadable

#: cells that IPython hands to something else than Python; `%%time` and its like run Python
_OTHER = re.compile(r"%%(?!time\b|timeit\b|capture\b|prun\b|debug\b)\w+")
#: lines that IPython takes itself
_MAGIC = re.compile(r"\s*(?:[%!?]|[\w.]+\?{1,2}\s*$|(?:\w+\s*=\s*)[%!])")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its place among all cells of the notebook (from 1) and its first line in the joined text."""

    number: int
    first_line: int


def read_notebook(content: bytes) -> tuple[str, tuple[Cell, ...]]:
    """The joined code cells of a notebook. Lines of IPython's own are emptied, so that line numbers stay true.

    Unreadable when it is no notebook.
    """
    try:
        document = json.loads(content.decode("utf-8-sig"))
        cells = document["cells"] if "cells" in document else document["worksheets"][0]["cells"]
        chosen = [(n, c) for n, c in enumerate(cells, 1) if c["cell_type"] == "code"]
        sources = [(n, c["source"] if "source" in c else c["input"]) for n, c in chosen]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise Unreadable(f"not a Jupyter notebook ({type(error).__name__}: {str(error)[:80]})") from None
    lines: list[str] = []
    marks: list[Cell] = []
    for number, source in sources:
        text = "".join(str(part) for part in source) if isinstance(source, list) else str(source)
        own = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ").split("\n")
        marks.append(Cell(number, len(lines) + 1))
        if own and _OTHER.match(own[0]):
            own = [""] * len(own)
        lines += [_python(line) for line in own]
    return "\n".join(lines) + "\n", tuple(marks)


def _python(line: str) -> str:
    if not _MAGIC.match(line):
        return line
    # A magic may be the only statement of a block.
    return line[: len(line) - len(line.lstrip())] + "pass"
