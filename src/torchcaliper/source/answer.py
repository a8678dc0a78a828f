"""What reading one file gave, and the same as plain data for the cache and for other processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torchcaliper.findings import Edit, Evidence, Finding, Fix, Location, Severity, Text


@dataclass(slots=True)
class Problem:
    """A file that could not be read or judged, said in one line. `ours` where the fault is torchcaliper's."""

    path: str
    line: int
    message: str
    ours: bool = False


@dataclass(slots=True)
class Answer:
    """What was found in a file, whatever the settings are."""

    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lines: int = 0


def packed(answer: Answer) -> dict[str, Any]:
    """An answer as data for JSON; `unpacked` gives an equal one."""
    return {
        "findings": [_finding(finding) for finding in answer.findings],
        "problems": [[p.path, p.line, p.message, p.ours] for p in answer.problems],
        "lines": answer.lines,
    }


def unpacked(data: Mapping[str, Any]) -> Answer:
    """The answer in `data`; KeyError, TypeError or ValueError when it is not one."""
    return Answer(
        [_finding_of(entry) for entry in data["findings"]],
        [Problem(*entry) for entry in data["problems"]],
        int(data["lines"]),
    )


def _text(text: Text) -> list[Any]:
    return [text.template, {key: _plain(value) for key, value in text.values.items()}]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _place(place: Location | None) -> list[Any] | None:
    return None if place is None else [place.path, place.line, place.column]


def _finding(finding: Finding) -> dict[str, Any]:
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": int(finding.severity),
        "message": _text(finding.message),
        "location": _place(finding.location),
        "evidence": [[_text(e.text), _place(e.location)] for e in finding.evidence],
        "fix": None if fix is None else [_text(fix.text), [_edit(edit) for edit in fix.edits], fix.safe],
        "count": finding.count,
        "subjects": sorted(finding.subjects),
    }


def _edit(edit: Edit) -> list[Any]:
    return [edit.path, edit.start_line, edit.start_column, edit.end_line, edit.end_column, edit.replacement]


def _finding_of(data: Mapping[str, Any]) -> Finding:
    fix = data["fix"]
    return Finding(
        code=data["code"],
        name=data["name"],
        severity=Severity(data["severity"]),
        message=Text(*data["message"]),
        location=_place_of(data["location"]),
        evidence=tuple(Evidence(Text(*text), _place_of(place)) for text, place in data["evidence"]),
        fix=None if fix is None else Fix(Text(*fix[0]), tuple(Edit(*edit) for edit in fix[1]), fix[2]),
        count=data["count"],
        subjects=frozenset(data["subjects"]),
    )


def _place_of(data: list[Any] | None) -> Location | None:
    return None if data is None else Location(*data)
