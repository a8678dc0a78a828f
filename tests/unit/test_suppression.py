"""Suppression comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcaliper.findings import Finding, Location, Severity, Text
from torchcaliper.suppression import EVERYTHING, is_suppressed, suppressions


def lines(source: str) -> tuple[str, ...]:
    return tuple(source.split("\n"))


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# caliper: ignore", EVERYTHING),
        ("#caliper:ignore", EVERYTHING),
        ("# caliper: ignore because it is meant", EVERYTHING),
        ("# noqa  # caliper: ignore[A103]", {"A103"}),
        ("# caliper: ignore[L101, a103]", {"L101", "A103"}),
        ("# caliper: ignore[A103] the sum is wanted", {"A103"}),
        ("# caliper: ignore[]", set()),
    ],
)
def test_forms(comment: str, expected: set[str]) -> None:
    assert suppressions((f"x = 1  {comment}",)) == {1: expected}


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # caliper: ignored",
        "x = 1  # caliper: ignore-next",
        "x = '# caliper: ignore'",
        "x = 1  # caliper ignore",
    ],
)
def test_what_is_no_comment_of_ours(line: str) -> None:
    assert suppressions((line,)) == {}


def test_a_comment_covers_its_whole_statement_and_no_other() -> None:
    source = """\
a = 1
loss = criterion(
    model(x),  # caliper: ignore[L101]
    y,
)
b = 2
"""
    assert suppressions(lines(source)) == dict.fromkeys(range(2, 6), frozenset({"L101"}))


def test_comments_of_one_statement_are_added() -> None:
    source = "f(  # caliper: ignore[A101]\n  1)  # caliper: ignore[O101]"
    assert suppressions(lines(source)) == {1: {"A101", "O101"}, 2: {"A101", "O101"}}


def test_a_compound_statement_is_its_header() -> None:
    source = "for x in loader:  # caliper: ignore\n    step(x)\n"
    assert suppressions(lines(source)) == {1: EVERYTHING}


def test_a_comment_above_belongs_to_no_statement() -> None:
    assert 2 not in suppressions(lines("# caliper: ignore\nx = 1\n"))


def test_a_string_over_several_lines_is_one_statement() -> None:
    source = 'x = """\n# caliper: ignore[A101]\n"""  # caliper: ignore[O101]\n'
    assert suppressions(lines(source)) == dict.fromkeys((1, 2, 3), frozenset({"O101"}))


def test_a_broken_file_keeps_what_was_read() -> None:
    source = "x = 1  # caliper: ignore\ny = (\n"
    assert suppressions(lines(source))[1] == EVERYTHING


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    source = lines(f"x = 1  # caliper: ignore[A103]\n{text}")
    assert all(1 <= line <= len(source) for line in suppressions(source))


@given(st.integers(0, 5), st.integers(0, 5), st.integers(1, 4))
def test_only_the_lines_of_the_statement_are_covered(before: int, after: int, height: int) -> None:
    statement = ["f(", *["    1,"] * height, ")  # caliper: ignore[A103]"]
    source = ["x = 1"] * before + statement + ["y = 2"] * after
    assert set(suppressions(tuple(source))) == set(range(before + 1, before + len(statement) + 1))


@pytest.mark.parametrize(
    ("comment", "code", "expected"),
    [
        ("ignore[A103]", "A103", True),
        ("ignore[A1]", "A103", True),
        ("ignore[O101]", "A103", False),
        ("ignore[]", "A103", False),
        ("ignore", "A103", True),
    ],
)
def test_findings_are_suppressed_in_their_file(tmp_path: Path, comment: str, code: str, expected: bool) -> None:
    file = tmp_path / "train.py"
    file.write_text(f"x = 1\nloss.backward()  # caliper: {comment}\n", encoding="utf-8")

    def finding(line: int) -> Finding:
        return Finding(code, "name", Severity.ERROR, Text("message"), Location(str(file), line))

    assert is_suppressed(finding(2)) is expected
    assert not is_suppressed(finding(1))
    assert not is_suppressed(finding(99))


def test_findings_without_a_readable_place_are_told() -> None:
    assert not is_suppressed(Finding("A103", "name", Severity.ERROR, Text("message")))
    place = Location("<stdin>", 1)
    assert not is_suppressed(Finding("A103", "name", Severity.ERROR, Text("message"), place))
