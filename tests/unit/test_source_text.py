"""Source files are read as Python reads them."""

from __future__ import annotations

import linecache
import os
from pathlib import Path

import pytest

from torchcaliper.source_text import source_line, source_lines


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\r\nb\rc\n", ("a", "b", "c", "")),
        (b"\xef\xbb\xbfx = 1", ("x = 1",)),
        (b"# coding: latin-1\n'\xe9'", ("# coding: latin-1", "'\u00e9'")),
        (b"a = '\x0c'\nb", ("a = '\x0c'", "b")),
        (b"# coding: nonsense\n", ()),
        (b"'ok'\n'\xff'", ("'ok'", "'\ufffd'")),
        (b"", ("",)),
    ],
)
def test_lines(tmp_path: Path, content: bytes, expected: tuple[str, ...]) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(content)
    assert source_lines(str(file)) == expected


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("one")
    assert source_line(str(file), 1) == "one"
    file.write_text("two")
    os.utime(file, ns=(1, 1))
    assert source_line(str(file), 1) == "two"


@pytest.mark.parametrize("line", [-1, 0, 2, 10**9])
def test_lines_that_are_not_there(tmp_path: Path, line: int) -> None:
    file = tmp_path / "train.py"
    file.write_text("one")
    assert source_line(str(file), line) == ""


@pytest.mark.parametrize("path", ["/no/such/file.py", "<stdin>", "", "a\0b", os.sep])
def test_what_cannot_be_read_is_empty(path: str) -> None:
    assert source_lines(path) == ()


def test_a_notebook_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = "<ipython-input-1-abc>"
    monkeypatch.setitem(linecache.cache, cell, (9, None, ["x = 1\n", "y = 2\n"], cell))
    assert source_line(cell, 2) == "y = 2"
