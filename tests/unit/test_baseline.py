"""Baselines recognise findings across edits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcaliper.baseline import fingerprint, read_baseline, write_baseline
from torchcaliper.errors import UsageError
from torchcaliper.findings import Finding, Location, Severity, Text


def finding(file: Path, line: int, code: str = "A103") -> Finding:
    return Finding(code, "name", Severity.ERROR, Text("{n} times", {"n": 3}), Location(str(file), line))


def write(file: Path, lines: list[str]) -> None:
    file.write_text("\n".join(lines), encoding="utf-8")


def test_a_moved_line_is_known(tmp_path: Path) -> None:
    file, baseline = tmp_path / "train.py", tmp_path / "baseline.json"
    write(file, ["a", "loss.backward()"])
    assert write_baseline(baseline, [finding(file, 2)]) == 1
    write(file, ["# new", "a", "", "if b:", "    loss.backward()"])
    assert fingerprint(finding(file, 5), tmp_path) in read_baseline(baseline)
    assert fingerprint(finding(file, 2), tmp_path) not in read_baseline(baseline)
    assert fingerprint(finding(file, 5, "A104"), tmp_path) not in read_baseline(baseline)


def test_equal_lines_are_told_apart(tmp_path: Path) -> None:
    file, baseline = tmp_path / "train.py", tmp_path / "baseline.json"
    write(file, ["f()", "g()", "f()"])
    write_baseline(baseline, [finding(file, 3)])
    assert fingerprint(finding(file, 3), tmp_path) in read_baseline(baseline)
    assert fingerprint(finding(file, 1), tmp_path) not in read_baseline(baseline)


def test_paths_are_relative_to_the_baseline(tmp_path: Path) -> None:
    file = tmp_path / "src" / "train.py"
    file.parent.mkdir()
    write(file, ["f()"])
    baseline = tmp_path / "baseline.json"
    write_baseline(baseline, [finding(file, 1)])
    assert json.loads(baseline.read_text())["findings"][0]["path"] == "src/train.py"


def test_a_finding_without_place_is_known_by_its_template(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    one = Finding("A103", "name", Severity.ERROR, Text("{n} times", {"n": 3}))
    write_baseline(baseline, [one])
    other = Finding("A103", "name", Severity.ERROR, Text("{n} times", {"n": 4}))
    assert fingerprint(other, tmp_path) in read_baseline(baseline)


@given(st.lists(st.sampled_from(["f()", "g()", "  f()", "", "x = 1"]), min_size=1, max_size=12), st.data())
def test_inserting_other_lines_changes_no_fingerprint(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("baseline")
    old, new = folder / "old" / "train.py", folder / "new" / "train.py"
    marked = [i for i, line in enumerate(lines) if line.strip()]
    if not marked:
        return
    at = data.draw(st.sampled_from(marked))
    inserted = data.draw(st.integers(0, len(lines)))
    for file, content in ((old, lines), (new, [*lines[:inserted], "# new", *lines[inserted:]])):
        file.parent.mkdir()
        write(file, content)
    before = fingerprint(finding(old, at + 1), old.parent)
    after = fingerprint(finding(new, at + 1 + (inserted <= at)), new.parent)
    assert before == after
    prints = {fingerprint(finding(old, i + 1), old.parent) for i in marked}
    assert len(prints) == len(marked)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1}', '{"format": 9, "findings": []}', "\0"])
def test_what_is_no_baseline(tmp_path: Path, content: str) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(content)
    with pytest.raises(UsageError, match="not a torchcaliper baseline"):
        read_baseline(file)


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(UsageError, match="cannot write"):
        write_baseline(tmp_path / "no" / "folder.json", [])
