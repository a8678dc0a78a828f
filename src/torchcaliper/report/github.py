"""Findings as annotations of a GitHub workflow: one line each on stdout."""

from __future__ import annotations

from collections.abc import Sequence

from torchcaliper.findings import Finding, Severity
from torchcaliper.report.wording import said, shown_path

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def render(findings: Sequence[Finding], cwd: str) -> str:
    """The annotations, a line each.

    Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    return "".join(_annotation(finding, cwd) + "\n" for finding in findings)


def _annotation(finding: Finding, cwd: str) -> str:
    place = finding.location
    properties = {"title": f"{finding.code} {finding.name}"}
    if place is not None:
        path = shown_path(place.path, cwd).replace("\\", "/")
        properties |= {"file": path, "line": str(place.line), "col": str(place.column + 1)}
    text = said(finding.message)
    if finding.fix is not None:
        text += f"\nFix: {said(finding.fix.text)}"
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_LEVELS[finding.severity]} {shown}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
