"""The record of a look: plain data, shown on a terminal or as JSON. Imports no torch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Value:
    """A tensor as an operator was given it or returned it."""

    shape: list[int]
    dtype: str
    device: str
    strides: list[int]
    contiguous: bool


@dataclass(slots=True)
class Row:
    """One call of an operator from a line of the user's code."""

    path: str
    line: int
    function: str
    operator: str
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    #: what the memory of the first output is: "new", "view of input N", "input N" (written in place or handed back)
    memory: str = ""
    bytes: int = 0  # newly allocated for outputs that live on
    grad_fn: str = ""
    seconds: float = 0.0  # of the call, as the host sees it; a device may still be at work
    backward_seconds: float | None = None  # of its node in backward, likewise


@dataclass(slots=True)
class Look:
    """One step, or one call of a function, operator by operator."""

    what: str
    step: int | None = None
    rows: list[Row] = field(default_factory=list)
    note: str = ""  # why there are no rows
    seconds: float = 0.0
    cwd: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: `schema`, `subject` ("look"), and the fields."""
        return {"schema": 1, "subject": "look", **dataclasses.asdict(self)}

    def to_json(self) -> str:
        """One JSON object."""
        import json

        return json.dumps(self.to_dict(), indent=1) + "\n"

    def __str__(self) -> str:
        from torchcaliper.looking.table import render

        return render(self, 100, False)

    @property
    def allocated(self) -> int:
        """Bytes newly allocated for outputs, in all."""
        return sum(row.bytes for row in self.rows)
