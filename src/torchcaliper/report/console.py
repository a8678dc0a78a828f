"""Findings as a person reads them on a terminal.

    error  A103 gradients-never-cleared                                              train.py:30
      30 |     loss.backward()
         |     ~~~~~~~~~~~~~~~
      Gradients of all earlier steps are added to those of this one ...
      train.py:31   optimizer.step()   ...
      Every step since step 0 (1,240 times).
      Fix: optimizer.zero_grad() before loss.backward()

Pure functions from findings to text: the caller writes it.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable, Sequence

from torchcaliper.findings import Evidence, Finding, Location, Severity
from torchcaliper.report.layout import Style, columns, cut, printable, styled, wrapped
from torchcaliper.report.summary import RunSummary
from torchcaliper.report.terminal import clamped
from torchcaliper.report.wording import number, occurrence, said, shown_place, tally
from torchcaliper.source_text import source_line

#: gives the text of a line of a file, empty when there is none
SourceReader = Callable[[str, int], str]

#: the look of each severity
LOOK = {Severity.ERROR: Style.RED, Severity.WARNING: Style.YELLOW, Severity.ADVICE: Style.CYAN}
_INDENT = "  "
_GAP = "   "
_ENDINGS = {
    "exception": "ended by an exception",
    "interrupted": "interrupted",
    None: "killed or still running",
}
_SIGNALS = {
    "SIGSEGV": ", a segmentation fault: python -X faulthandler shows where",
    "SIGKILL": ", often by the kernel for want of memory",
    "SIGABRT": ", by itself: python -X faulthandler shows where",
}


def render(
    findings: Sequence[Finding],
    summary: RunSummary,
    cwd: str,
    width: int,
    colour: bool,
    *,
    advice: bool = False,
    source: SourceReader = source_line,
) -> str:
    """A whole report: every finding that is told (advice only with `advice`), then the summary line."""
    blocks = [
        render_finding(finding, cwd, width, colour, steps=summary.steps, source=source)
        for finding in findings
        if advice or finding.severity > Severity.ADVICE
    ]
    return "\n".join([*blocks, render_summary(findings, summary, advice, width, colour, hint="")])


def render_finding(
    finding: Finding,
    cwd: str,
    width: int,
    colour: bool,
    *,
    steps: int | None = None,
    live: bool = False,
    source: SourceReader = source_line,
) -> str:
    """One finding, with a line end.

    `steps` is how many steps were done, so that "every step" can be said; `live`: the run goes on and may count more.
    """
    width = clamped(width)
    lines = _header(finding, cwd, width, colour)
    if finding.location is not None:
        lines += _frame(finding.location, width, colour, source)
    lines += _paragraphs(said(finding.message), width)
    for evidence in finding.evidence:
        lines += _evidence(evidence, finding.location, cwd, width, colour, source)
    seen = occurrence(finding, steps, live)
    if seen:
        lines += wrapped(seen, width, _INDENT, _INDENT)
    if finding.fix is not None:
        first, *others = _paragraphs("Fix: " + said(finding.fix.text), width, rest=_INDENT + "     ")
        lines += [first.replace("Fix:", styled("Fix:", Style.GREEN, colour), 1), *others]
    return "\n".join(lines) + "\n"


def render_summary(
    findings: Sequence[Finding],
    summary: RunSummary,
    advice: bool,
    width: int,
    colour: bool,
    *,
    cwd: str | None = None,
    hint: str = "torchcaliper report",
) -> str:
    """The closing line, with a line end: what was found in how many steps, and on the right how to see it again.

    With `cwd`, the headers of the findings stand above it: the live lines may have scrolled away long ago.
    `advice` says whether pieces of advice are shown or only counted.
    """
    width = clamped(width)
    lines = []
    if cwd is not None:
        for finding in findings:
            if advice or finding.severity > Severity.ADVICE:
                lines += _header(finding, cwd, width, colour)
    lines += _closing(findings, summary, advice, width, colour, hint)
    return "\n".join(lines) + "\n"


def _header(finding: Finding, cwd: str, width: int, colour: bool) -> list[str]:
    severity = str(finding.severity)
    code, name = printable(finding.code), printable(finding.name)
    left = columns(f"{severity}  {code} {name}")
    shown = f"{styled(severity, LOOK[finding.severity], colour)}  {styled(code, Style.BOLD, colour)} {name}"
    if finding.location is None:
        return [shown]
    place = _place(finding.location, cwd)
    space = width - left - columns(place)
    if space >= len(_GAP):
        return [shown + " " * space + place]
    return [shown, _INDENT + place]


def _place(location: Location, cwd: str) -> str:
    return printable(shown_place(location, cwd))


def _frame(location: Location, width: int, colour: bool, source: SourceReader) -> list[str]:
    raw = source(location.path, location.line)
    text = raw.rstrip()
    if not text.strip():
        return []
    start = len(text) - len(text.lstrip())
    if start < location.column < len(text):
        start = location.column
    end = max(_code_end(text), start + 1)
    margin = f"{_INDENT}{location.line} |"
    blank = f"{_INDENT}{'':{len(str(location.line))}} |"
    room = width - len(margin) - 1
    line = cut(printable(text), room)
    before, marked = columns(printable(text[:start])), columns(printable(text[start:end]))
    mark = " " * before + "~" * min(marked, max(room - before, 1))
    under = [] if before >= room else [f"{styled(blank, Style.DIM, colour)} {styled(mark, Style.RED, colour)}"]
    return [f"{styled(margin, Style.DIM, colour)} {line}", *under]


def _code_end(line: str) -> int:
    """Where the code of a line ends and a comment begins."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            if token.type == tokenize.COMMENT:
                return len(line[: len(line) - len(line.lstrip()) + token.start[1]].rstrip())
    except (tokenize.TokenError, SyntaxError):
        pass  # part of a statement over several lines
    return len(line)


def _paragraphs(text: str, width: int, first: str = _INDENT, rest: str = _INDENT) -> list[str]:
    lines: list[str] = []
    for paragraph in text.splitlines():
        if paragraph.strip():
            lines += wrapped(paragraph, width, rest if lines else first, rest)
    return lines


def _evidence(
    evidence: Evidence, at: Location | None, cwd: str, width: int, colour: bool, source: SourceReader
) -> list[str]:
    text = said(evidence.text)
    location = evidence.location
    if location is None or (at is not None and (location.path, location.line) == (at.path, at.line)):
        return _paragraphs(text, width)
    place = _place(location, cwd)
    code = printable(source(location.path, location.line).strip())
    shown = _INDENT + styled(place, Style.DIM, colour)
    head = _INDENT + place
    if code:
        code = cut(code, max(width - columns(head) - len(_GAP), 20))
        if columns(head + _GAP + code) <= width:
            shown, head = shown + _GAP + code, head + _GAP + code
    said_lines = text.splitlines()
    if len(said_lines) == 1 and columns(head + _GAP + printable(text)) <= width:
        return [shown + _GAP + printable(text)]
    return [shown, *_paragraphs(text, width, _INDENT * 2, _INDENT * 2)]


def _closing(
    findings: Sequence[Finding], summary: RunSummary, advice: bool, width: int, colour: bool, hint: str
) -> list[str]:
    counts = {severity: sum(f.severity is severity for f in findings) for severity in Severity}
    advised = counts[Severity.ADVICE]
    told = [
        (tally(counts[severity], severity), severity)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.ADVICE)
        if counts[severity] and (advice or severity > Severity.ADVICE)
    ]
    plain = ", ".join(words for words, _ in told)
    shown = ", ".join(styled(words, LOOK[severity], colour) for words, severity in told)
    scope = _scope(summary)
    if summary.steps:
        begin = "" if told else "no faults seen"
        end = f" in {scope}"
    else:
        begin = ""
        end = f"; {scope}" if told else scope
    if advised and not advice:
        end += f"; {tally(advised, Severity.ADVICE)}: --advice"
    line = plain + begin + end
    if columns(line) > width:
        return wrapped(line, width, "", _INDENT) + ([_INDENT + hint] if hint else [])
    space = width - columns(line) - columns(hint)
    if not hint:
        return [shown + begin + end]
    if space < len(_GAP):
        return [shown + begin + end, _INDENT + hint]
    return [shown + begin + end + " " * min(space, 5) + styled(hint, Style.DIM, colour)]


def _scope(summary: RunSummary) -> str:
    if not summary.processes:
        return "nothing was recorded"
    if summary.steps:
        scope = number(summary.steps, "step")
        if summary.processes > 1:
            scope += f" of {number(summary.processes, 'process', 'processes')}"
    else:
        scope = "no training step was seen"
    notes = []
    if summary.deep_steps:
        notes.append(f"{summary.deep_steps} looked at deeply")
    if not summary.steps:
        notes.append("torch was imported" if summary.torch_seen else "torch was not imported")
    if summary.signal:
        notes.append(f"killed by {summary.signal}" + _SIGNALS.get(summary.signal, ""))
    elif summary.ending != "normal":
        notes.append(_ENDINGS.get(summary.ending, summary.ending or ""))
    if summary.steps and summary.overhead is not None:
        notes.append(f"watching cost {summary.overhead * 100:.1f} %")
    return f"{scope} ({'; '.join(notes)})" if notes else scope
