"""The one currency between rules and reports: a finding, its evidence and its fix.

Texts are templates with values and are rendered last, so that another language touches no rule.
"""

from __future__ import annotations

import enum
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Severity(enum.IntEnum):
    """How bad a finding is; ordered, so that thresholds compare."""

    ADVICE = 0
    WARNING = 1
    ERROR = 2

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> Severity:
        """Read `advice`, `warning` or `error`; ValueError names the choices."""
        try:
            return cls[text.strip().upper()]
        except KeyError:
            raise ValueError(f"unknown severity {text!r} (advice, warning or error)") from None


#: follows a number that is 1 while a message is being put together
_MARK = "\0"
_NOUNS = (
    "backward passes|batches|buffers|calls|classes|elements|epochs|forwards|gradients|graphs|items|keys|layers|losses|"
    "networks|operators|optimizers|parameters|places|positions|processes|rows|samples|steps|targets|tensors|times|"
    "tokens|units|values"
)
_ONE = re.compile(rf"\b1{_MARK}( [a-z]+)? ({_NOUNS})\b( are\b| were\b| have\b)?")
_VERBS = {" are": " is", " were": " was", " have": " has"}


class _Counting(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        text: str = super().format_field(value, format_spec)
        return text + _MARK if value == 1 and type(value) is int and text == "1" else text


_COUNTING = _Counting()


def _singular(found: re.Match[str]) -> str:
    adjective, noun, verb = found.groups("")
    one = noun.removesuffix("es" if noun.endswith(("ches", "sses")) else "s")
    return f"1{adjective} {one}{_VERBS.get(verb, verb)}"


@dataclass(frozen=True, slots=True)
class Text:
    """A message template (`str.format` syntax) and its values."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def render(self) -> str:
        """The message in the template's own language; what is counted stands in the singular where there is one."""
        return _ONE.sub(_singular, _COUNTING.vformat(self.template, (), self.values)).replace(_MARK, "")

    def __str__(self) -> str:
        return self.render()


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a user's file. `path` is absolute or relative to the working directory; `line` counts from 1."""

    path: str
    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """One measured fact behind a finding, with the line it belongs to where there is one."""

    text: Text
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two positions of a file (lines from 1, columns from 0, end exclusive)."""

    path: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What to type. `edits` are mechanical; without them the text says it.

    `safe` edits change nothing but the fault: they keep comments, and cannot break a program that was right.
    """

    text: Text
    edits: tuple[Edit, ...] = ()
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that a rule names.

    `count` is how often it was seen and `first_step` the optimizer step (from 0) of the first time.
    `subjects` are keys of the objects concerned (`"optimizer:0"`, `"module:3"`): two findings that share a subject
    may have one cause (see `rule.fold`).
    """

    code: str
    name: str
    severity: Severity
    message: Text
    location: Location | None = None
    evidence: tuple[Evidence, ...] = ()
    fix: Fix | None = None
    count: int = 1
    first_step: int | None = None
    subjects: frozenset[str] = frozenset()

    @property
    def identity(self) -> tuple[str, Location | None, str]:
        """Equal for two tellings of the same fault (counts and evidence may have grown in between)."""
        key = ",".join(sorted(self.subjects)) if self.location is None else ""
        return (self.code, self.location, key)
