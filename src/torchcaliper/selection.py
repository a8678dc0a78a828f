"""Which rules are told: codes and prefixes of codes, in comma lists."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from torchcaliper.errors import UsageError
from torchcaliper.rule import Stage, all_rules


def parse_codes(text: str) -> tuple[str, ...]:
    """The codes of a comma list such as `A103, O1,P`; spaces and case do not matter."""
    return tuple(part.upper() for part in re.split(r"[,\s]+", text) if part)


def check_codes(codes: Iterable[str], origin: str, known: Iterable[str] | None = None) -> None:
    """UsageError when a code is neither a rule's code, nor the beginning of one, nor the letter of a stage.

    `origin` says where the codes were written (`--select`).
    """
    known = [rule.code for rule in all_rules()] if known is None else list(known)
    letters = {stage.value for stage in Stage}
    for code in codes:
        if code not in letters and not any(rule.startswith(code) for rule in known):
            raise UsageError(f"{origin}: no rule has the code or prefix {code!r}{near_misses(code, known)}")


def near_misses(word: str, known: Iterable[str]) -> str:
    """` (near: A103, A104)`, or nothing when nothing is near."""
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f" (near: {', '.join(near)})" if near else ""


def is_selected(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether findings of `code` are told. The longer prefix wins, at equal length `ignore`; no `select` means all."""
    selected = _longest(code, select) if select else 0
    return selected > _longest(code, ignore)


def _longest(code: str, prefixes: Sequence[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)
