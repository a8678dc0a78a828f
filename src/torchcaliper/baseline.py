"""Baselines: findings that are known and not told again.

A finding is recognised by its code, its file (relative to the baseline's folder), the text of its line and the place
of that line among equal ones of the file, so that a line that moved still matches.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from torchcaliper.errors import UsageError
from torchcaliper.findings import Finding
from torchcaliper.source_text import source_lines

FORMAT = 1


class Fingerprint(NamedTuple):
    """What identifies a finding across edits."""

    code: str
    path: str | None
    text: str
    occurrence: int


def fingerprint(finding: Finding, folder: Path) -> Fingerprint:
    """The fingerprint of a finding, for a baseline in `folder`. Without a location, the message template identifies."""
    place = finding.location
    if place is None:
        return Fingerprint(finding.code, None, finding.message.template, 0)
    lines = [line.strip() for line in source_lines(place.path)]
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
    # A line that cannot be read is known by its number alone.
    occurrence = lines[: place.line - 1].count(text) if text else place.line
    return Fingerprint(finding.code, _relative(place.path, folder), text, occurrence)


def read_baseline(path: Path) -> frozenset[Fingerprint]:
    """The fingerprints of a baseline file. UsageError when it cannot be read or is no baseline."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError
        entries = [(e["code"], e["path"], e["text"], e["occurrence"]) for e in data["findings"]]
        return frozenset(Fingerprint(*entry) for entry in entries)
    except OSError as error:
        raise UsageError(f"cannot read the baseline {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is not a torchcaliper baseline") from None


def write_baseline(path: Path, findings: Iterable[Finding]) -> int:
    """Write the findings' fingerprints; their number. UsageError when the file cannot be written."""
    known = sorted({fingerprint(f, path.parent) for f in findings}, key=lambda e: (e.path or "", e.code, e[2:]))
    document = {"format": FORMAT, "findings": [entry._asdict() for entry in known]}
    try:
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the baseline {path}: {error.strerror}") from None
    return len(known)


def _relative(path: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return Path(path).as_posix()
