"""The report of `torchcaliper lint` on a terminal: findings, then one line on what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from torchcaliper.findings import Finding, Severity
from torchcaliper.report.console import LOOK, render_finding
from torchcaliper.report.layout import styled
from torchcaliper.report.wording import number, tally


def render(
    findings: Sequence[Finding], files: int, cwd: str, width: int, colour: bool, *, advice: bool, statistics: bool
) -> str:
    """Every finding that is told (advice only with `advice`), or the number of each code, then the closing line."""
    told = [finding for finding in findings if advice or finding.severity > Severity.ADVICE]
    if statistics:
        blocks = [_statistics(told)] if told else []
    else:
        blocks = [render_finding(finding, cwd, width, colour) for finding in told]
    return "\n".join([*blocks, closing(findings, files, advice, colour)])


def closing(findings: Sequence[Finding], files: int, advice: bool, colour: bool) -> str:
    """`2 errors, 1 warning in 14 files (1 can be fixed with --fix); 3 pieces of advice: --advice`."""
    counts = Counter(finding.severity for finding in findings)
    shown = [
        styled(tally(counts[severity], severity), LOOK[severity], colour)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.ADVICE)
        if counts[severity] and (advice or severity > Severity.ADVICE)
    ]
    line = (", ".join(shown) or "no faults found") + f" in {number(files, 'file')}"
    told = [finding for finding in findings if advice or finding.severity > Severity.ADVICE]
    fixes = [finding.fix for finding in told if finding.fix is not None and finding.fix.edits]
    safe = sum(fix.safe for fix in fixes)
    if safe:
        line += f" ({safe} can be fixed with --fix)"
    elif fixes:
        line += f" ({len(fixes)} can be fixed with --unsafe-fixes)"
    if counts[Severity.ADVICE] and not advice:
        line += f"; {tally(counts[Severity.ADVICE], Severity.ADVICE)}: --advice"
    return line + "\n"


def _statistics(findings: Sequence[Finding]) -> str:
    counts = Counter((finding.code, finding.name) for finding in findings)
    width = len(str(max(counts.values())))
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{count:>{width}}  {code}  {name}\n" for (code, name), count in rows)
