"""Findings as SARIF 2.1.0, for code scanning services.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from torchcaliper.baseline import fingerprint
from torchcaliper.findings import Edit, Finding, Fix, Location, Severity
from torchcaliper.report.wording import said, shown_path
from torchcaliper.rule import Rule, all_rules
from torchcaliper.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}


def document(findings: Sequence[Finding], cwd: str) -> dict[str, Any]:
    """The whole report as plain data: one run, the rules that it names, a result for each finding."""
    named = {finding.code for finding in findings}
    rules = [rule for rule in all_rules() if rule.code in named]
    index = {rule.code: number for number, rule in enumerate(rules)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "torchcaliper",
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, index, cwd) for finding in findings],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.page, "markdown": rule.page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, index: dict[str, int], cwd: str) -> dict[str, Any]:
    text = said(finding.message)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
    }
    if finding.location is not None:
        result["locations"] = [{"physicalLocation": _physical(finding.location, cwd)}]
    related = [
        {"id": number, "physicalLocation": _physical(e.location, cwd), "message": {"text": said(e.text)}}
        for number, e in enumerate(finding.evidence)
        if e.location is not None
    ]
    if related:
        result["relatedLocations"] = related
    known = "\0".join(str(part) for part in fingerprint(finding, Path(cwd)))
    result["partialFingerprints"] = {"torchcaliper/v1": hashlib.sha256(known.encode("utf-8")).hexdigest()[:32]}
    if finding.fix is not None and finding.fix.edits:
        result["fixes"] = [_fix(finding.fix, cwd)]
    elif finding.fix is not None:
        result["message"]["text"] += f"\nFix: {said(finding.fix.text)}"
    return result


def _uri(path: str, cwd: str) -> str:
    shown = Path(shown_path(path, cwd))
    return shown.as_uri() if shown.is_absolute() else quote(shown.as_posix())


def _physical(location: Location, cwd: str) -> dict[str, Any]:
    return {
        "artifactLocation": {"uri": _uri(location.path, cwd)},
        "region": {"startLine": max(location.line, 1), "startColumn": location.column + 1},
    }


def _fix(fix: Fix, cwd: str) -> dict[str, Any]:
    by_file: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        by_file.setdefault(edit.path, []).append(edit)
    return {
        "description": {"text": said(fix.text)},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": _uri(path, cwd)},
                "replacements": [
                    {
                        "deletedRegion": {
                            "startLine": edit.start_line,
                            "startColumn": edit.start_column + 1,
                            "endLine": edit.end_line,
                            "endColumn": edit.end_column + 1,
                        },
                        "insertedContent": {"text": edit.replacement},
                    }
                    for edit in edits
                ],
            }
            for path, edits in by_file.items()
        ],
    }
