"""Suppression comments: `# caliper: ignore` and `# caliper: ignore[L101, A103]`."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import lru_cache

from torchcaliper.findings import Finding
from torchcaliper.selection import parse_codes
from torchcaliper.source_text import source_lines

#: what a comment suppresses: codes and prefixes, or everything
Suppressed = frozenset[str]
EVERYTHING: Suppressed = frozenset({""})

_COMMENT = re.compile(r"#\s*caliper:\s*ignore(?![\w-])(?:\s*\[([^\]]*)\])?", re.IGNORECASE)
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


def is_suppressed(finding: Finding) -> bool:
    """Whether a comment on the finding's line, or on any line of the statement that holds it, names its code."""
    if finding.location is None:
        return False
    codes = _of_file(source_lines(finding.location.path)).get(finding.location.line)
    return codes is not None and finding.code.startswith(tuple(codes))


@lru_cache(maxsize=256)
def _of_file(lines: tuple[str, ...]) -> Mapping[int, Suppressed]:
    return suppressions(lines)


def suppressions(lines: tuple[str, ...]) -> dict[int, Suppressed]:
    """What is suppressed on each line (from 1). Lines without suppression are left out."""
    if not any("caliper:" in line.lower() for line in lines):
        return {}
    result: dict[int, Suppressed] = {}
    comments: dict[int, Suppressed] = {}
    start = 0  # first line of the statement being read; 0 between statements
    for token in _tokens(lines):
        if token.type == tokenize.COMMENT:
            codes = _codes(token.string)
            if codes is not None:
                comments[token.start[0]] = codes
        elif token.type == tokenize.NEWLINE:
            # The lines of a string are those of its statement, and so is a comment at the end of any of them.
            held = frozenset[str]().union(*comments.values()) if comments else None
            for line in range(start or token.start[0], token.start[0] + 1):
                if held is not None:
                    result[line] = held
            comments, start = {}, 0
        elif token.type not in _LAYOUT and not start:
            start = token.start[0]
            # Comments on lines of their own, above the statement, belong to no statement.
            comments = {}
    result.update({line: codes for line, codes in comments.items() if line not in result})
    return result


def _codes(comment: str) -> Suppressed | None:
    found = _COMMENT.search(comment)
    if found is None:
        return None
    return EVERYTHING if found[1] is None else frozenset(parse_codes(found[1]))


def _tokens(lines: tuple[str, ...]) -> Iterator[tokenize.TokenInfo]:
    feed = iter([line + "\n" for line in lines])
    try:
        yield from tokenize.generate_tokens(lambda: next(feed, ""))
    except (tokenize.TokenError, SyntaxError):
        # A file that is being edited: what was read before the error holds.
        return
