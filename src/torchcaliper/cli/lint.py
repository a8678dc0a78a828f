"""`torchcaliper lint`: find faults in source, before anything runs."""

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
    from torchcaliper.source.answer import Problem

_FORMATS = ("console", "json", "sarif", "github")
#: rounds of fixes: an edit that touched another one gets its turn in the next
_ROUNDS = 10


def add_parser(subparsers: SubParsers) -> None:
    parser = subparsers.add_parser("lint", help="find faults in source, without running it", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: .); - reads stdin")
    parser.add_argument("--format", choices=_FORMATS, default="console", help="default: console")
    parser.add_argument("--output", metavar="FILE", help="write the report to FILE instead of stdout")
    options.add_judging(parser)
    parser.add_argument("--write-baseline", metavar="FILE", help="write the findings to FILE, for --baseline")
    parser.add_argument(
        "--exclude", metavar="GLOB", action="append", help="leave out files and folders; may be repeated"
    )
    parser.add_argument("--statistics", action="store_true", help="only how often each code was found")
    parser.add_argument("--fix", action="store_true", help="apply fixes that change nothing but the fault")
    parser.add_argument("--unsafe-fixes", action="store_true", help="apply fixes that may change more, too")
    parser.add_argument("--diff", action="store_true", help="show what fixes would change, and change nothing")
    parser.add_argument("--stdin-filename", metavar="FILE", help="the name of the file that stdin is the content of")
    parser.add_argument("-j", "--jobs", type=_jobs, metavar="N", help="processes (default: one per processor)")
    parser.add_argument("--no-cache", action="store_true", help="read every file anew")


def run(args: argparse.Namespace) -> int:
    from torchcaliper.findings import Severity

    settings = options.settings(args)
    if args.paths == ["-"]:
        findings, problems, files = _of_stdin(args, settings)
    else:
        findings, problems, files = _of_files(args, settings)
        if args.diff:
            return _diff(args, findings)
        if args.fix or args.unsafe_fixes:
            findings, problems, files = _fixed(args, settings, findings, problems, files)
    for problem in problems:
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        print(f"torchcaliper: {place}: {problem.message}", file=sys.stderr)
    if args.write_baseline is not None:
        return _write_baseline(args, findings)
    options.write(_report(args, settings, findings, files), args.output)
    level = Severity.ERROR if settings.fail_on is None else settings.fail_on
    if any(problem.ours for problem in problems):
        return 2
    return int(bool(problems) or any(finding.severity >= level for finding in findings))


def _jobs(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _of_files(args: argparse.Namespace, settings: Settings) -> tuple[list[Finding], list[Problem], int]:
    from torchcaliper.judgement import select
    from torchcaliper.source.cache import Cache
    from torchcaliper.source.checking import source_files
    from torchcaliper.source.linting import answers, available_processors

    exclude = (*settings.exclude, *(args.exclude or ()))
    files = list(dict.fromkeys(source_files(args.paths or ["."], exclude)))
    cache = None if args.no_cache else Cache(Path.cwd())
    findings: list[Finding] = []
    problems: list[Problem] = []
    for answer in answers(files, args.jobs or available_processors(), cache):
        findings += answer.findings
        problems += answer.problems
    return select(findings, settings), sorted(problems, key=lambda p: (p.path, p.line)), len(files)


def _of_stdin(args: argparse.Namespace, settings: Settings) -> tuple[list[Finding], list[Problem], int]:
    from torchcaliper.judgement import select
    from torchcaliper.source.checking import check_file
    from torchcaliper.source.project import Project
    from torchcaliper.source.text import Unreadable, decode
    from torchcaliper.source_text import keep

    content = sys.stdin.buffer.read()
    name = os.path.abspath(args.stdin_filename or "<stdin>")
    try:
        if not name.endswith(".ipynb"):
            keep(name, decode(content))
    except Unreadable:
        pass  # said below, where the file is parsed
    answer = check_file(Path(name), content, Project())
    return select(answer.findings, settings), answer.problems, 1


def _fixed(
    args: argparse.Namespace, settings: Settings, findings: list[Finding], problems: list[Problem], files: int
) -> tuple[list[Finding], list[Problem], int]:
    from torchcaliper.source.fixing import edited, write

    total = 0
    for _ in range(_ROUNDS):
        changed = edited(findings, args.unsafe_fixes)
        if not changed:
            break
        before = len(findings)
        write(changed)
        findings, problems, files = _of_files(args, settings)
        total += max(before - len(findings), 0)
    print(f"torchcaliper: {total} fixed", file=sys.stderr)
    return findings, problems, files


def _diff(args: argparse.Namespace, findings: list[Finding]) -> int:
    from torchcaliper.report.wording import shown_path
    from torchcaliper.source.fixing import difference, edited

    changed = edited(findings, args.unsafe_fixes)
    text = difference(changed, lambda path: shown_path(path, os.getcwd()))
    options.write(text, args.output)
    return int(bool(changed))


def _write_baseline(args: argparse.Namespace, findings: list[Finding]) -> int:
    from torchcaliper.baseline import write_baseline
    from torchcaliper.report.wording import number

    file = Path(args.write_baseline).absolute()
    print(f"{number(write_baseline(file, findings), 'finding')} written to {file}", file=sys.stderr)
    return 0


def _report(args: argparse.Namespace, settings: Settings, findings: list[Finding], files: int) -> str:
    from torchcaliper.report.terminal import shows_colour, width_of

    cwd = os.getcwd()
    if args.format == "json":
        from torchcaliper.report import json as json_report
        from torchcaliper.report.summary import RunSummary

        document = json_report.document(findings, "source", RunSummary(), cwd)
        document["summary"]["files"] = files
        return json.dumps(document, indent=1) + "\n"
    if args.format == "sarif":
        from torchcaliper.report import sarif

        return json.dumps(sarif.document(findings, cwd), indent=1) + "\n"
    if args.format == "github":
        from torchcaliper.report import github

        return github.render(findings, cwd)
    from torchcaliper.report import source

    colour = args.output is None and shows_colour(sys.stdout)
    return source.render(
        findings,
        files,
        cwd,
        width_of(sys.stdout),
        colour,
        advice=settings.advice,
        statistics=args.statistics,
    )
