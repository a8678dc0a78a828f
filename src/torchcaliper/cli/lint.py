"""`torchcaliper lint`: find faults in source, before anything runs."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from torchcaliper.cli import options

if TYPE_CHECKING:
    from torchcaliper.cli import SubParsers


def add_parser(subparsers: SubParsers) -> None:
    parser = subparsers.add_parser("lint", help="find faults in source, without running it", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH", default=["."], help="files and folders (default: .)")
    options.add_format(parser)
    parser.add_argument("--output", metavar="FILE", help="write the report to FILE instead of stdout")
    options.add_judging(parser)


def run(args: argparse.Namespace) -> int:
    import json

    from torchcaliper.findings import Severity
    from torchcaliper.report import console
    from torchcaliper.report import json as json_report
    from torchcaliper.report.summary import RunSummary
    from torchcaliper.report.terminal import shows_colour, width_of
    from torchcaliper.source.checking import check, source_files

    settings = options.settings(args)
    checked = check(source_files(args.paths), settings)
    cwd = os.getcwd()
    for problem in checked.problems:
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        print(f"torchcaliper: {place}: {problem.message}", file=sys.stderr)
    if args.format == "json":
        text = json.dumps(json_report.document(checked.findings, "source", RunSummary(), cwd), indent=1) + "\n"
    else:
        colour = args.output is None and shows_colour(sys.stdout)
        text = "\n".join(
            console.render_finding(finding, cwd, width_of(sys.stdout), colour)
            for finding in checked.findings
            if settings.advice or finding.severity > Severity.ADVICE
        )
    options.write(text, args.output)
    level = Severity.ERROR if settings.fail_on is None else settings.fail_on
    return int(any(finding.severity >= level for finding in checked.findings))
