"""`torchcaliper runs`: list the watched runs of this directory, newest first."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torchcaliper.cli import options

if TYPE_CHECKING:
    from torchcaliper.cli import SubParsers
    from torchcaliper.configuration import Settings
    from torchcaliper.run.directory import RunDirectory

_HEADINGS = ("RUN", "WHEN", "ENDED", "STEPS", "ERRORS", "WARNINGS", "ADVICE")
_NUMBERS = slice(3, None)


def add_parser(subparsers: SubParsers) -> None:
    subparsers.add_parser("runs", help="list the runs of this directory", description=__doc__)


def run(args: argparse.Namespace) -> int:
    from torchcaliper.configuration import read_settings
    from torchcaliper.report.layout import Style, cut, printable, styled
    from torchcaliper.report.terminal import shows_colour, width_of
    from torchcaliper.run.directory import list_runs, runs_folder

    cwd = Path.cwd()
    settings = read_settings(cwd)
    runs = list_runs(cwd)
    if not runs:
        print(f"no runs under {runs_folder(cwd)}: start one with `torchcaliper run train.py`")
        return 0
    rows = [_HEADINGS, *(_row(directory, settings) for directory in runs)]
    commands = ["COMMAND", *(printable(shlex.join(directory.command)) for directory in runs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    width = width_of(sys.stdout)
    room = width - sum(widths) - 2 * len(widths)
    lines = []
    for row, command in zip(rows, commands, strict=True):
        cells = [text.rjust(w) if text in row[_NUMBERS] else text.ljust(w) for text, w in zip(row, widths, strict=True)]
        line = "  ".join(cells)
        # A narrow terminal shows the command below its run.
        lines += [f"{line}  {cut(command, room)}"] if room >= 24 else [line.rstrip(), f"    {cut(command, width - 4)}"]
    lines[0] = styled(lines[0], Style.BOLD, shows_colour(sys.stdout))
    options.write("\n".join(lines) + "\n")
    return 0


def _row(directory: RunDirectory, settings: Settings) -> tuple[str, ...]:
    from torchcaliper.findings import Severity
    from torchcaliper.judgement import judge, merge
    from torchcaliper.report.summary import RunSummary

    records = directory.records()
    summary = RunSummary.of(records, directory.signal)
    findings = merge(finding for record in records for finding in judge(record, settings))
    counts = (sum(f.severity is severity for f in findings) for severity in reversed(Severity))
    if directory.is_look:
        ended = "look"
    elif directory.may_be_running():
        ended = summary.ending or "running"
    else:
        ended = summary.signal or summary.ending or ("killed" if records else "unknown")
    when = f"{directory.started:%d %b %H:%M}"
    return (directory.id, when, ended, f"{summary.steps:,}", *(str(count) for count in counts))
