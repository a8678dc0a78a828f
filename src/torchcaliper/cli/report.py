"""`torchcaliper report`: show a watched run again."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torchcaliper.cli import options

if TYPE_CHECKING:
    from torchcaliper.cli import SubParsers
    from torchcaliper.configuration import Settings
    from torchcaliper.findings import Finding
    from torchcaliper.run.record import Run


def add_parser(subparsers: SubParsers) -> None:
    parser = subparsers.add_parser("report", help="show the findings of a run again", description=__doc__)
    parser.add_argument(
        "name", nargs="?", metavar="RUN", help="id, its unique beginning, or path (default: the newest)"
    )
    options.add_format(parser)
    parser.add_argument("--output", metavar="FILE", help="write the report to FILE instead of stdout")
    options.add_judging(parser)
    parser.add_argument(
        "--memory",
        metavar="FILE",
        help="show a memory snapshot (torch.cuda.memory._dump_snapshot) instead; nothing in the file is run",
    )
    parser.add_argument("--write-baseline", metavar="FILE", help="write the findings to FILE, for --baseline")


def run(args: argparse.Namespace) -> int:
    from torchcaliper.report import console
    from torchcaliper.report import json as json_report
    from torchcaliper.report.summary import RunSummary
    from torchcaliper.report.terminal import shows_colour, width_of

    if args.memory is not None:
        return _memory(args)
    settings = options.settings(args)
    records, signal = _records(args.name)
    if args.write_baseline is not None:
        return _write_baseline(Path(args.write_baseline).absolute(), records, settings)
    findings = _judged(records, settings)
    summary, cwd = RunSummary.of(records, signal), os.getcwd()
    if args.format == "json":
        text = json.dumps(json_report.document(findings, "run", summary, cwd), indent=1) + "\n"
    else:
        colour = args.output is None and shows_colour(sys.stdout)
        text = console.render(findings, summary, cwd, width_of(sys.stdout), colour, advice=settings.advice)
    options.write(text, args.output)
    reached = settings.fail_on is not None and any(finding.severity >= settings.fail_on for finding in findings)
    return int(reached)


def _memory(args: argparse.Namespace) -> int:
    from torchcaliper.looking.memory import document, read_snapshot, render_snapshot
    from torchcaliper.report.terminal import shows_colour, width_of

    devices = read_snapshot(args.memory)
    if args.format == "json":
        text = json.dumps(document(devices), indent=1) + "\n"
    else:
        colour = args.output is None and shows_colour(sys.stdout)
        text = render_snapshot(devices, os.getcwd(), width_of(sys.stdout), colour)
    options.write(text, args.output)
    return 0


def _records(name: str | None) -> tuple[list[Run], str]:
    from torchcaliper.errors import UsageError
    from torchcaliper.run.directory import find

    try:
        directory = find(name, Path.cwd())
    except LookupError as error:
        raise UsageError(str(error)) from None
    records = directory.records()
    if directory.notes and not records:
        raise UsageError(f"run {directory.id}: {'; '.join(directory.notes)}")
    for note in directory.notes:
        print(f"torchcaliper: {note}", file=sys.stderr)
    return records, directory.signal


def _judged(records: list[Run], settings: Settings) -> list[Finding]:
    from torchcaliper.judgement import judge, merge

    faults: list[str] = []
    findings = merge(finding for record in records for finding in judge(record, settings, faults))
    for fault in dict.fromkeys(faults):
        print(f"torchcaliper: {fault}", file=sys.stderr)
    return findings


def _write_baseline(file: Path, records: list[Run], settings: Settings) -> int:
    from dataclasses import replace

    from torchcaliper.baseline import write_baseline
    from torchcaliper.report.wording import number

    # What an older baseline holds belongs into the new one, too.
    count = write_baseline(file, _judged(records, replace(settings, baseline=None)))
    print(f"{number(count, 'finding')} written to {file}", file=sys.stderr)
    return 0
