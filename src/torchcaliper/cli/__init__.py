"""The command line: one file per verb, each with `add_parser(subparsers)` and `run(args) -> exit code`.

Verb files import at their top only what their parser needs, so that `--help` and the start of a run are quick.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from torchcaliper.errors import UsageError
from torchcaliper.version import __version__

#: what `add_parser` of a verb is given
SubParsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

VERBS = ("run", "lint", "look", "report", "runs", "rules")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 2 for wrong usage or unreadable input, said in one line."""
    try:
        args = _parser().parse_args(argv)
    except SystemExit as end:  # --help, --version or a usage error, already printed
        return end.code if isinstance(end.code, int) else 2
    try:
        code: int = importlib.import_module(f"{__name__}.{args.verb}").run(args)
        sys.stdout.flush()
    except UsageError as error:
        print(f"torchcaliper: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. Keep Python from complaining when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _parser() -> Parser:
    parser = Parser(prog="torchcaliper", description="Names the silent faults of PyTorch programs at file:line.")
    parser.add_argument("--version", action="version", version=f"torchcaliper {__version__}")
    subparsers = parser.add_subparsers(dest="verb", metavar="verb", required=True)
    for verb in VERBS:
        importlib.import_module(f"{__name__}.{verb}").add_parser(subparsers)
    return parser
