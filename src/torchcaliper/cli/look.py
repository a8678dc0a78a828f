"""`torchcaliper look`: what really happens in one training step, line by line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchcaliper.cli import options
from torchcaliper.errors import UsageError

if TYPE_CHECKING:
    from torchcaliper.cli import SubParsers

_DESCRIPTION = """\
Run a PyTorch program, unmodified, and show one of its training steps operator by operator: for each line of your code
the operators it calls, their shapes, dtypes and strides, what is a view of what, the memory they take, their nodes in
the autograd graph and their time. Everything after the program is the program's; after that step it runs on unwatched.

  torchcaliper look train.py --lr 0.1
  torchcaliper look --step 10 -m package.train

The table appears on stderr as soon as the step is over. The exit code is the program's own."""

_USAGE = "torchcaliper look [options] (script.py | -m module | -c code | command) [arguments of the program ...]"


def add_parser(subparsers: SubParsers) -> None:
    parser = subparsers.add_parser(
        "look",
        help="show one training step, operator by operator",
        usage=_USAGE,
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    options.add_format(parser)
    parser.add_argument("--output", metavar="FILE", help="write the table (or JSON) to FILE instead of stderr")
    parser.add_argument("--step", metavar="N", type=int, default=0, help="the training step, from 0 (default)")
    parser.add_argument("-m", dest="kind", action="store_const", const="-m", help="the program is a module")
    parser.add_argument("-c", dest="kind", action="store_const", const="-c", help="the program is code")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Become the program; returns only where a process cannot (Windows). UsageError when it cannot be started."""
    from torchcaliper.cli.run import writable
    from torchcaliper.rule import Stage
    from torchcaliper.run.launch import launch
    from torchcaliper.run.program import command_line

    program: list[str] = list(args.program)
    if program[:1] == ["--"]:
        program.pop(0)
    if not program:
        raise UsageError(f"no program given: {_USAGE}")
    if args.step < 0:
        raise UsageError("--step counts from 0")
    told: dict[str, Any] = {
        "look": args.step,
        "look_format": args.format,
        "look_output": None if args.output is None else str(writable(Path(args.output).absolute())),
        # Nothing but the look is told.
        "quiet": True,
        "overhead": 0.0,
        "ignore": [stage.value for stage in Stage],
    }
    words = [args.kind, *program] if args.kind else program
    return launch(command_line(args.kind, program), told=words, options=told)
