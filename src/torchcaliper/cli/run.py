"""`torchcaliper run`: start a program under watch."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchcaliper.cli import options
from torchcaliper.errors import UsageError

if TYPE_CHECKING:
    from torchcaliper.cli import SubParsers

_DESCRIPTION = """\
Run a PyTorch program, unmodified, and name what is silently wrong in it. Everything after the program is the program's.

  torchcaliper run train.py --lr 0.1
  torchcaliper run -m package.train --lr 0.1
  torchcaliper run torchrun --nproc-per-node 2 train.py

Findings appear on stderr. The exit code is the program's own; with --fail-on, 1 where the program's is 0."""

_USAGE = "torchcaliper run [options] (script.py | -m module | -c code | - | command) [arguments of the program ...]"


def add_parser(subparsers: SubParsers) -> None:
    parser = subparsers.add_parser(
        "run",
        help="run a program under watch",
        usage=_USAGE,
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # Abbreviations are looked for in the program's arguments, too.
        allow_abbrev=False,
    )
    options.add_format(parser)
    parser.add_argument("--output", metavar="FILE", help="write the report to FILE when the program ends")
    options.add_judging(parser)
    parser.add_argument(
        "--overhead",
        metavar="SHARE",
        type=_share,
        help="share of the time that watching may take before deep looks are left out: 3%% (default; 10%% where steps "
        "are shorter than 3 ms), 0 for looks at the first steps only, full for every step",
    )
    parser.add_argument("--quiet", action="store_true", help="nothing live, and no summary without findings")
    parser.add_argument("-m", dest="kind", action="store_const", const="-m", help="the program is a module")
    parser.add_argument("-c", dest="kind", action="store_const", const="-c", help="the program is code")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Become the program; returns only where a process cannot (Windows). UsageError when it cannot be started."""
    from torchcaliper.run.launch import launch
    from torchcaliper.run.program import command_line

    program: list[str] = list(args.program)
    if program[:1] == ["--"]:
        program.pop(0)
    if not program:
        raise UsageError(f"no program given: {_USAGE}")
    return launch(
        command_line(args.kind, program), told=[args.kind, *program] if args.kind else program, options=_options(args)
    )


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """What the watch inside the program has to know. Everything in it has been checked."""
    return {
        "format": args.format,
        "output": None if args.output is None else str(writable(Path(args.output).absolute())),
        "quiet": args.quiet,
        "overhead": args.overhead,
        **options.settings(args).to_options(),
    }


def _share(text: str) -> float:
    """`3%`, `3` or `full` as a share of 1."""
    if text == "full":
        return 1.0
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share of the time: write 3%, 0 or full")
    return share


def writable(file: Path) -> Path:
    """`file`, where a report can be written; better told now than after a night of training."""
    if file.is_dir():
        raise UsageError(f"--output {file}: is a directory")
    if not file.parent.is_dir():
        raise UsageError(f"--output {file}: no such directory: {file.parent}")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise UsageError(f"--output {file}: not writable")
    return file
