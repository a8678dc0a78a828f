"""Words that every report uses: texts, paths, counts."""

from __future__ import annotations

import os

from torchcaliper.findings import Finding, Location, Severity, Text
from torchcaliper.source_text import cell_of


def said(text: Text) -> str:
    """The rendered text. A template that does not fit its values is shown as it is: a report never fails."""
    try:
        return text.render()
    except Exception:
        return text.template


def shown_path(path: str, cwd: str) -> str:
    """`path` relative to `cwd` when it lies below it, else as it is. Names such as `<stdin>` stay."""
    if path.startswith("<") or "\0" in path or not os.path.isabs(path):
        return path
    for file, folder in ((path, cwd), (os.path.realpath(path), os.path.realpath(cwd))):
        try:
            relative = os.path.relpath(file, folder)
        except ValueError:  # another drive
            continue
        if relative != os.pardir and not relative.startswith(os.pardir + os.sep):
            return relative
    return path


def shown_place(location: Location, cwd: str) -> str:
    """`train.py:30`; in a notebook `train.ipynb:cell 3:2`."""
    path, cell = shown_path(location.path, cwd), cell_of(location.path, location.line)
    return f"{path}:{location.line}" if cell is None else f"{path}:cell {cell[0]}:{cell[1]}"


def number(count: int, singular: str, plural: str | None = None) -> str:
    """`1 step`, `1,240 steps`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def occurrence(finding: Finding, steps: int | None, live: bool) -> str:
    """How often and since when: `Every step since step 0 (1,240 times).`; empty where there is nothing to count.

    `steps` is how many steps the run has done, `live` says that it goes on.
    """
    count, first = finding.count, finding.first_step
    if first is None:
        return "" if count <= 1 else f"{count:,} times{' so far' if live else ''}."
    if count <= 1:
        return f"First seen at step {first:,}." if live else f"Seen once, at step {first:,}."
    if steps is not None and count == steps - first:
        return f"Every step since step {first:,} ({count:,} times{' so far' if live else ''})."
    return f"{count:,} times since step {first:,}{', so far' if live else ''}."


def tally(count: int, severity: Severity) -> str:
    """`2 errors`, `1 piece of advice`."""
    if severity is Severity.ADVICE:
        return number(count, "piece of advice", "pieces of advice")
    return number(count, str(severity))
