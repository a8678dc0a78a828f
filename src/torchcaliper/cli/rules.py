"""`torchcaliper rules`: the catalogue, or one rule's page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torchcaliper.cli import options

if TYPE_CHECKING:
    from torchcaliper.cli import SubParsers
    from torchcaliper.rule import Rule


def add_parser(subparsers: SubParsers) -> None:
    parser = subparsers.add_parser("rules", help="list the rules, or print a rule's page", description=__doc__)
    parser.add_argument("code", nargs="?", metavar="CODE", help="the rule whose page to print, such as A103")
    options.add_format(parser)


def run(args: argparse.Namespace) -> int:
    from torchcaliper.report.page import render_page
    from torchcaliper.report.terminal import shows_colour, width_of
    from torchcaliper.rule import all_rules

    rules = all_rules()
    if args.code is not None:
        rules = (_named(args.code, rules),)
    if args.format == "json":
        print(json.dumps({"schema": 1, "rules": [_plain(rule) for rule in rules]}, indent=1))
        return 0
    colour = shows_colour(sys.stdout)
    if args.code is not None:
        title = f"{rules[0].code} {rules[0].name} ({rules[0].severity})"
        text = render_page(title, rules[0].page, width_of(sys.stdout), colour)
    else:
        # A pipe gets one line per rule, whatever its length.
        text = catalogue(rules, width_of(sys.stdout) if sys.stdout.isatty() else None, colour)
    options.write(text)
    return 0


def catalogue(rules: Sequence[Rule], width: int | None, colour: bool) -> str:
    """All rules as a table: code, severity, name, summary (wrapped into its column when there is a width)."""
    from torchcaliper.report.console import LOOK
    from torchcaliper.report.layout import printable, styled, wrapped

    if not rules:
        return "no rules\n"
    names = max(len(rule.name) for rule in rules)
    severities = max(len(str(rule.severity)) for rule in rules)
    margin = len(rules[0].code) + severities + names + 6
    if width is not None and width - margin < 24:
        margin = 6  # too narrow for a column: the summary goes below
    lines = []
    for rule in rules:
        severity = str(rule.severity)
        row = f"{rule.code}  {severity:{severities}}  {rule.name:{names}}  "
        if width is None:
            summary = [row + printable(rule.summary)]
        elif margin == 6:
            summary = [row.rstrip(), *wrapped(rule.summary, width, " " * margin, " " * margin)]
        else:
            summary = wrapped(rule.summary, width, row, " " * margin)
        look = styled(severity, LOOK[rule.severity], colour)
        lines += [summary[0].replace(severity, look, 1), *summary[1:]]
    return "\n".join(lines) + "\n"


def _named(code: str, rules: Sequence[Rule]) -> Rule:
    from torchcaliper.errors import UsageError
    from torchcaliper.selection import near_misses

    for rule in rules:
        if rule.code == code.upper():
            return rule
    raise UsageError(f"no rule has the code {code!r}{near_misses(code.upper(), [rule.code for rule in rules])}")


def _plain(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": str(rule.severity),
        "stage": rule.stage.name.lower(),
        "summary": rule.summary,
        "page": rule.page,
    }
