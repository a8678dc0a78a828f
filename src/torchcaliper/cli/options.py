"""Options that several verbs share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcaliper.configuration import Settings


def add_format(parser: argparse.ArgumentParser) -> None:
    """`--format`."""
    parser.add_argument("--format", choices=("console", "json"), default="console", help="default: console")


def add_judging(parser: argparse.ArgumentParser) -> None:
    """`--select`, `--ignore`, `--advice`, `--fail-on` and `--baseline`, which `settings` reads."""
    parser.add_argument("--select", metavar="CODES", help="tell only these codes or prefixes: A103,O1")
    parser.add_argument("--ignore", metavar="CODES", help="do not tell these codes or prefixes")
    parser.add_argument("--advice", action="store_true", help="list advice too, not only its number")
    parser.add_argument(
        "--fail-on",
        choices=("advice", "warning", "error"),
        metavar="LEVEL",
        help="exit with 1 when there is a finding at or above this level (advice, warning, error)",
    )
    parser.add_argument("--baseline", metavar="FILE", help="do not tell the findings in this file")


def settings(args: argparse.Namespace) -> Settings:
    """The settings of this call: pyproject.toml, overridden by the options of `add_judging`.

    UsageError for unknown codes, a wrong configuration or a baseline that cannot be read.
    """
    from torchcaliper.baseline import read_baseline
    from torchcaliper.configuration import read_settings
    from torchcaliper.findings import Severity

    chosen = read_settings(Path.cwd()).overridden(
        select=args.select,
        ignore=args.ignore,
        fail_on=None if args.fail_on is None else Severity.parse(args.fail_on),
        advice=args.advice,
        baseline=args.baseline,
    )
    if chosen.baseline is not None:
        read_baseline(chosen.baseline)
    return chosen


def write(text: str, output: str | None = None) -> None:
    """Write a report to a file (UTF-8), or to stdout in whatever encoding it has. UsageError when that fails."""
    from torchcaliper.errors import UsageError

    if output is None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return
    try:
        Path(output).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None
