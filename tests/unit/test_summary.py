"""What is said of a run of several processes, and what a stream can show."""

from __future__ import annotations

import io

import pytest

from torchcaliper.report.summary import RunSummary
from torchcaliper.report.terminal import shows_colour, width_of
from torchcaliper.run.record import Run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_ranks_step_together() -> None:
    one = Run(steps=10, seconds=1.0, overhead=0.1, ending="normal")
    two = Run(steps=12, seconds=3.0, overhead=0.02, ending="exception")
    unmeasured = Run(steps=0, seconds=9.0, ending="normal", torch_seen=False)
    summary = RunSummary.of([one, two, unmeasured])
    assert summary.overhead == pytest.approx(0.04)
    assert (summary.steps, summary.seconds, summary.ending, summary.processes) == (12, 9.0, "exception", 3)
    assert summary.torch_seen


@pytest.mark.parametrize(
    ("endings", "expected"),
    [
        (["normal", None], None),
        (["normal", "interrupted", None], "interrupted"),
        (["normal", "normal"], "normal"),
    ],
)
def test_the_worst_ending_is_told(endings: list[str | None], expected: str | None) -> None:
    assert RunSummary.of([Run(ending=ending) for ending in endings]).ending == expected


def test_no_record_at_all() -> None:
    assert RunSummary.of([]) == RunSummary(ending=None, processes=0, torch_seen=False)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_follows_the_terminal(environment: dict[str, str], expected: bool) -> None:
    assert shows_colour(Terminal(), environment) is expected


def test_pipes_get_no_colour() -> None:
    assert not shows_colour(io.StringIO(), {"TERM": "xterm"})
    assert shows_colour(io.StringIO(), {"FORCE_COLOR": "1"})


@pytest.mark.parametrize(
    ("columns", "expected"), [("80", 80), ("10", 60), ("500", 120), ("", 100), ("x", 100), ("0", 100), ("²", 100)]
)
def test_width(columns: str, expected: int) -> None:
    assert width_of(io.StringIO(), {"COLUMNS": columns}) == expected
