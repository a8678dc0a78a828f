"""Findings as JSON, for other programs. The fields are a contract: they may be added to, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchcaliper.findings import Edit, Evidence, Finding, Fix, Severity
from torchcaliper.report.summary import RunSummary
from torchcaliper.report.wording import said, shown_path
from torchcaliper.source_text import cell_of
from torchcaliper.version import __version__

SCHEMA = 1


def document(findings: Sequence[Finding], subject: str, summary: RunSummary, cwd: str) -> dict[str, Any]:
    """The whole report as plain data. Advice is always in it. Paths are relative to `cwd` where they lie below it."""

    def counted(severity: Severity) -> int:
        return sum(finding.severity is severity for finding in findings)

    return {
        "schema": SCHEMA,
        "tool": {"name": "torchcaliper", "version": __version__},
        "subject": subject,
        "findings": [_finding(finding, cwd) for finding in findings],
        "summary": {
            "errors": counted(Severity.ERROR),
            "warnings": counted(Severity.WARNING),
            "advice": counted(Severity.ADVICE),
            "steps": summary.steps,
            "seconds": summary.seconds,
            "overhead": summary.overhead,
            "deep_steps": summary.deep_steps,
            "ending": summary.ending,
            "processes": summary.processes,
        },
    }


def _finding(finding: Finding, cwd: str) -> dict[str, Any]:
    place = finding.location
    cell = cell_of(place.path, place.line) if place else None
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "message": said(finding.message),
        "path": shown_path(place.path, cwd) if place else None,
        "line": cell[1] if cell else place.line if place else None,
        "column": place.column if place else 0,
        **({"cell": cell[0]} if cell else {}),
        "evidence": [_evidence(evidence, cwd) for evidence in finding.evidence],
        "fix": _fix(finding.fix, cwd) if finding.fix else None,
        "count": finding.count,
        "first_step": finding.first_step,
    }


def _evidence(evidence: Evidence, cwd: str) -> dict[str, Any]:
    place = evidence.location
    return {
        "text": said(evidence.text),
        "path": shown_path(place.path, cwd) if place else None,
        "line": place.line if place else None,
    }


def _fix(fix: Fix, cwd: str) -> dict[str, Any]:
    return {"text": said(fix.text), "edits": [_edit(edit, cwd) for edit in fix.edits]}


def _edit(edit: Edit, cwd: str) -> dict[str, Any]:
    return {
        "path": shown_path(edit.path, cwd),
        "start_line": edit.start_line,
        "start_column": edit.start_column,
        "end_line": edit.end_line,
        "end_column": edit.end_column,
        "replacement": edit.replacement,
    }
