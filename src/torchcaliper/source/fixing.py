"""Fixes applied to files: what a finding says to type, typed."""

from __future__ import annotations

import ast
import codecs
import difflib
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from torchcaliper.errors import UsageError
from torchcaliper.findings import Edit, Finding

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


def edited(findings: Iterable[Finding], unsafe: bool) -> dict[str, bytes]:
    """The new contents of the files that fixes change, by path.

    Of edits that touch the same text the first is applied; another round takes the next. A file that would no longer
    be valid Python is left as it is. Line ends, encoding and byte order mark stay.
    """
    by_file: dict[str, list[tuple[Edit, ...]]] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or not fix.edits or not (fix.safe or unsafe):
            continue
        paths = {edit.path for edit in fix.edits}
        if len(paths) == 1 and not fix.edits[0].path.endswith(".ipynb"):
            by_file.setdefault(fix.edits[0].path, []).append(fix.edits)
    changed: dict[str, bytes] = {}
    for path, groups in by_file.items():
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        new = _apply(content, groups)
        if new is not None and new != content:
            changed[path] = new
    return changed


def write(changed: dict[str, bytes]) -> None:
    """Write new contents. UsageError where a file cannot be written."""
    for path, content in changed.items():
        try:
            Path(path).write_bytes(content)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None


def difference(changed: dict[str, bytes], shown: Callable[[str], str]) -> str:
    """What would change, as a unified diff; `shown` gives the name under which a file is shown."""
    parts: list[str] = []
    for path, content in changed.items():
        old, new = (_decoded(c)[0].splitlines(keepends=True) for c in (Path(path).read_bytes(), content))
        parts += difflib.unified_diff(old, new, fromfile=shown(path), tofile=shown(path))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts)


def _apply(content: bytes, groups: list[tuple[Edit, ...]]) -> bytes | None:
    text, encoding, mark = _decoded(content)
    starts = [0]
    for line in _LINES.findall(text):
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:
        return starts[min(line, len(starts)) - 1] + column

    taken: list[tuple[int, int, str]] = []
    for group in groups:
        spans = [(offset(e.start_line, e.start_column), offset(e.end_line, e.end_column), e.replacement) for e in group]
        if not any(_touch(span, other) for span in spans for other in taken):
            taken += spans
    for start, end, replacement in sorted(taken, reverse=True):
        text = text[:start] + replacement + text[end:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
        return mark + text.encode(encoding)
    except (SyntaxError, ValueError):
        return None


def _touch(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _decoded(content: bytes) -> tuple[str, str, bytes]:
    """The text, its encoding, and the byte order mark in front of it."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    body = content[len(mark) :]
    encoding = "utf-8" if mark else tokenize.detect_encoding(io.BytesIO(body).readline)[0]
    return body.decode(encoding), encoding, mark
