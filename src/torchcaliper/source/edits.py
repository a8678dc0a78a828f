"""Edits at places of a user's file."""

from __future__ import annotations

import ast

from torchcaliper.findings import Edit
from torchcaliper.source.file import SourceFile
from torchcaliper.source.trace import Event


def insertion(event: Event, text: str) -> Edit:
    """Text put right behind the code of an event."""
    return inserted(event.file, event.node, text)


def inserted(file: SourceFile, node: ast.AST, text: str) -> Edit:
    """Text put right behind a node."""
    line, column = getattr(node, "end_lineno", 1), _characters(file, node)
    return Edit(file.path, line, column, line, column, text)


def replaced(file: SourceFile, node: ast.AST, text: str) -> Edit:
    """A node's code replaced by a text."""
    start = file.location(node)
    return Edit(file.path, start.line, start.column, getattr(node, "end_lineno", 1), _characters(file, node), text)


def line_after(file: SourceFile, node: ast.AST, text: str) -> Edit | None:
    """A line of its own below a statement that ends its line, indented like it; None where it does not."""
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    lines = file.lines
    if not 0 < last <= len(lines):
        return None
    rest = lines[last - 1][_characters(file, node) :].strip()
    head = lines[first - 1]
    indent = head[: len(head) - len(head.lstrip())]
    if (rest and not rest.startswith("#")) or len(indent) != file.location(node).column:
        return None
    end = len(lines[last - 1].rstrip("\r"))
    return Edit(file.path, last, end, last, end, f"\n{indent}{text}")


def _characters(file: SourceFile, node: ast.AST) -> int:
    """The column in characters of a node's end: ast counts bytes of UTF-8."""
    line, offset = getattr(node, "end_lineno", 1), getattr(node, "end_col_offset", 0)
    text = file.lines[line - 1] if 0 < line <= len(file.lines) else ""
    return offset if text.isascii() else len(text.encode("utf-8")[:offset].decode("utf-8", "replace"))
