"""Findings on a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcaliper.findings import Evidence, Finding, Fix, Location, Severity, Text
from torchcaliper.report.console import render, render_finding, render_summary
from torchcaliper.report.layout import columns
from torchcaliper.report.summary import RunSummary

CWD = os.path.abspath(os.path.join(os.sep, "project"))
TRAIN = os.path.join(CWD, "train.py")
SOURCE = {
    (TRAIN, 30): "    loss.backward()  # every batch",
    (TRAIN, 31): "    optimizer.step()",
    (TRAIN, 40): "\tx = self.softmax(y)",
}
FINDING = Finding(
    "A103",
    "gradients-never-cleared",
    Severity.ERROR,
    Text("The gradients of {n} steps are added up.", {"n": 40}),
    Location(TRAIN, 30),
    (Evidence(Text("steps with the sum"), Location(TRAIN, 31)), Evidence(Text("norm 0.1 -> 41.2"))),
    Fix(Text("optimizer.zero_grad() before loss.backward()")),
    1240,
    0,
)
ADVICE = Finding("D109", "float64-data", Severity.ADVICE, Text("Twice the memory."))
WARNING = Finding("M101", "unregistered-layer", Severity.WARNING, Text("Not registered."))


def source(path: str, line: int) -> str:
    return SOURCE.get((path, line), "")


def test_the_look_of_a_finding() -> None:
    assert (
        render_finding(FINDING, CWD, 60, False, steps=1240, source=source)
        == """\
error  A103 gradients-never-cleared              train.py:30
  30 |     loss.backward()  # every batch
     |     ~~~~~~~~~~~~~~~
  The gradients of 40 steps are added up.
  train.py:31   optimizer.step()   steps with the sum
  norm 0.1 -> 41.2
  Every step since step 0 (1,240 times).
  Fix: optimizer.zero_grad() before loss.backward()
"""
    )


def test_colour_changes_no_text() -> None:
    coloured = render_finding(FINDING, CWD, 80, True, source=source)
    assert "\x1b[1;31merror\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_finding(FINDING, CWD, 80, False, source=source)


@pytest.mark.parametrize(
    ("location", "mark"),
    [
        (Location(TRAIN, 40), "         |     ~~~~~~~~~~~~~~~~~~~"),
        (Location(TRAIN, 40, 5), "         |         ~~~~~~~~~~~~~~~"),
        (Location(TRAIN, 40, 999), "         |     ~~~~~~~~~~~~~~~~~~~"),
    ],
)
def test_the_mark_stands_below_the_code(location: Location, mark: str) -> None:
    finding = Finding("A103", "name", Severity.ERROR, Text("message"), location)
    lines = render_finding(finding, CWD, 80, False, source=source).splitlines()
    assert lines[1] == "  40 |     x = self.softmax(y)"
    assert lines[2].lstrip(" |") == mark.lstrip(" |")
    assert lines[2].index("~") == mark.index("~") - 4


@pytest.mark.parametrize(
    ("count", "first", "steps", "live", "expected"),
    [
        (1240, 0, 1240, False, "Every step since step 0 (1,240 times)."),
        (1240, 0, 1240, True, "Every step since step 0 (1,240 times so far)."),
        (1240, 0, 2000, False, "1,240 times since step 0."),
        (1240, 0, None, True, "1,240 times since step 0, so far."),
        (1, 7, 100, False, "Seen once, at step 7."),
        (1, 7, 8, True, "First seen at step 7."),
        (5, None, 100, False, "5 times."),
        (1, None, 100, False, None),
    ],
)
def test_how_often(count: int, first: int | None, steps: int | None, live: bool, expected: str | None) -> None:
    finding = Finding("A103", "name", Severity.ERROR, Text("message"), count=count, first_step=first)
    lines = render_finding(finding, CWD, 100, False, steps=steps, live=live).splitlines()
    assert lines[2:] == ([] if expected is None else ["  " + expected])


@pytest.mark.parametrize(
    ("findings", "summary", "advice", "expected"),
    [
        ([], RunSummary(1240), False, "no faults seen in 1,240 steps"),
        ([], RunSummary(1), False, "no faults seen in 1 step"),
        (
            [FINDING, FINDING, WARNING],
            RunSummary(1240, overhead=0.0123, deep_steps=9),
            False,
            "2 errors, 1 warning in 1,240 steps (9 looked at deeply; watching cost 1.2 %)",
        ),
        ([ADVICE] * 3, RunSummary(12), False, "no faults seen in 12 steps; 3 pieces of advice: --advice"),
        ([ADVICE], RunSummary(12), True, "1 piece of advice in 12 steps"),
        ([], RunSummary(0), False, "no training step was seen (torch was imported)"),
        ([], RunSummary(0, torch_seen=False), False, "no training step was seen (torch was not imported)"),
        ([], RunSummary.of([]), False, "nothing was recorded"),
        ([FINDING], RunSummary(0), False, "1 error; no training step was seen (torch was imported)"),
        ([], RunSummary(9, ending="exception"), False, "no faults seen in 9 steps (ended by an exception)"),
        ([], RunSummary(9, ending=None), False, "no faults seen in 9 steps (killed or still running)"),
        ([], RunSummary(9, processes=2), False, "no faults seen in 9 steps of 2 processes"),
    ],
)
def test_the_summary_line(findings: list[Finding], summary: RunSummary, advice: bool, expected: str) -> None:
    assert render_summary(findings, summary, advice, 100, False, hint="") == expected + "\n"
    assert render_summary(findings, summary, advice, 100, False) == expected + "     torchcaliper report\n"


def test_the_summary_can_name_the_findings_again() -> None:
    text = render_summary([FINDING, ADVICE], RunSummary(4), False, 60, False, cwd=CWD)
    assert text.splitlines()[0] == "error  A103 gradients-never-cleared              train.py:30"
    assert "D109" not in text


def test_a_whole_report_tells_advice_only_when_asked() -> None:
    told = render([FINDING, ADVICE], RunSummary(4), CWD, 80, False, source=source)
    assert "A103" in told
    assert "D109" not in told
    assert "D109" in render([FINDING, ADVICE], RunSummary(4), CWD, 80, False, advice=True, source=source)


def test_paths_outside_the_directory_stay_whole() -> None:
    path = os.path.join(os.path.abspath(os.sep), "elsewhere", "x" * 150, "model.py")
    finding = Finding("A103", "name", Severity.ERROR, Text("message"), Location(path, 3))
    assert f"  {path}:3" in render_finding(finding, CWD, 60, False).splitlines()


def test_what_could_steer_a_terminal_is_not_written() -> None:
    finding = Finding("A103", "name", Severity.ERROR, Text("a\x1b[2Jb\x07"), Location("\x1b[31m.py", 1))
    assert "\x1b" not in render_finding(finding, CWD, 80, False, source=lambda path, line: "x\x1b[2J")


texts = st.builds(Text, st.text(), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))
places = st.builds(Location, st.text() | st.just(TRAIN), st.integers(1, 10**7), st.integers(0, 300))
findings = st.builds(
    Finding,
    st.sampled_from(["A103", "M101"]),
    st.text(max_size=30),
    st.sampled_from(list(Severity)),
    texts,
    st.none() | places,
    st.lists(st.builds(Evidence, texts, st.none() | places), max_size=3).map(tuple),
    st.none() | st.builds(Fix, texts),
    st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
)
summaries = st.builds(
    RunSummary,
    st.integers(0, 10**9),
    st.floats(0, 10**6),
    st.none() | st.floats(0, 1),
    st.sampled_from(["normal", "exception", "interrupted", None]),
    st.integers(0, 1000),
    st.booleans(),
)


@given(st.lists(findings, max_size=3), summaries, st.integers(-5, 300), st.booleans(), st.booleans(), st.text())
def test_rendering_never_raises(
    told: Sequence[Finding], summary: RunSummary, width: int, colour: bool, advice: bool, line: str
) -> None:
    text = render(told, summary, CWD, width, colour, advice=advice, source=lambda path, number: line)
    assert text.endswith("\n")
    for finding in told:
        assert render_finding(finding, CWD, width, colour, live=True, source=lambda path, number: line)


@given(findings, st.integers(0, 300), st.text())
def test_only_unbreakable_words_exceed_the_width(finding: Finding, width: int, line: str) -> None:
    bound = max(60, min(120, width))
    for shown in render_finding(finding, CWD, width, False, source=lambda path, number: line).splitlines():
        if columns(shown) > bound:
            # One word behind its indentation, a path, or the first line's names.
            assert len(shown.split()) <= 3 or shown.startswith(str(finding.severity)) or ":" in shown


@given(st.lists(st.text("abcdefg-", min_size=1, max_size=20), max_size=60), st.integers(60, 120))
def test_words_are_wrapped_and_none_is_lost(words: list[str], width: int) -> None:
    finding = Finding("A103", "name", Severity.ERROR, Text(" ".join(words)))
    lines = render_finding(finding, CWD, width, False).splitlines()
    assert all(columns(shown) <= width for shown in lines)
    assert " ".join(lines[1:]).split() == words
