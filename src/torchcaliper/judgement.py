"""From a record to the findings that are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchcaliper.baseline import Fingerprint, fingerprint, read_baseline
from torchcaliper.configuration import Settings
from torchcaliper.findings import Finding
from torchcaliper.rule import Rule, all_rules, fold
from torchcaliper.selection import is_selected
from torchcaliper.suppression import is_suppressed

if TYPE_CHECKING:
    from torchcaliper.run.record import Run
    from torchcaliper.source.trace import Reading


def judge(run: Run, settings: Settings, faults: list[str] | None = None) -> list[Finding]:
    """What every rule finds in a record, one finding per cause, without what the user does not want to be told.

    A rule that raises is left out; a line about it is added to `faults`. Sorted by `in_order`.
    UsageError when the baseline cannot be read.
    """
    return _told(lambda rule: rule.judge_run(run), settings, faults)


def find_in_source(reading: Reading, faults: list[str] | None = None) -> list[Finding]:
    """What every rule finds in a file of source, one finding per cause, whatever the settings are."""
    return _found(lambda rule: rule.judge_source(reading), faults)


def _told(find: Callable[[Rule], Iterator[Finding]], settings: Settings, faults: list[str] | None) -> list[Finding]:
    return select(_found(find, faults), settings)


def _found(find: Callable[[Rule], Iterator[Finding]], faults: list[str] | None) -> list[Finding]:
    found: list[Finding] = []
    for rule in all_rules():
        try:
            # A list first: a rule that fails half-way tells nothing.
            found.extend(list(find(rule)))
        except Exception as error:
            if faults is not None:
                faults.append(f"rule {rule.code} {rule.name} failed: {type(error).__name__}: {error}")
    return fold(found)


def select(findings: Iterable[Finding], settings: Settings) -> list[Finding]:
    """The findings that the user wants to be told, merged and sorted by `in_order`."""
    told = [f for f in findings if is_selected(f.code, settings.select, settings.ignore) and not is_suppressed(f)]
    if settings.baseline is not None:
        known, folder = _baseline(settings.baseline), settings.baseline.parent
        told = [f for f in told if fingerprint(f, folder) not in known]
    return merge(told)


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per identity: counts added, the earliest first step, the words of the most counted one."""
    merged: dict[object, Finding] = {}
    for finding in findings:
        other = merged.get(finding.identity)
        if other is not None:
            words = finding if finding.count > other.count else other
            steps = [step for step in (other.first_step, finding.first_step) if step is not None]
            finding = replace(
                words,
                severity=max(other.severity, finding.severity),
                count=other.count + finding.count,
                first_step=min(steps, default=None),
                subjects=other.subjects | finding.subjects,
            )
        merged[finding.identity] = finding
    return in_order(merged.values())


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The worst first, then by file and line."""

    def key(finding: Finding) -> tuple[int, str, int, str]:
        place = finding.location
        return (-finding.severity, place.path if place else "", place.line if place else 0, finding.code)

    return sorted(findings, key=key)


@lru_cache(maxsize=8)
def _baseline(path: Path) -> frozenset[Fingerprint]:
    # Kept: a record is judged again and again while the program runs.
    return read_baseline(path)
