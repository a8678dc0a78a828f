"""From a record to what is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcaliper import judgement, rule
from torchcaliper.baseline import write_baseline
from torchcaliper.configuration import Settings
from torchcaliper.findings import Finding, Location, Severity, Text
from torchcaliper.judgement import judge, merge
from torchcaliper.rule import Rule
from torchcaliper.run.record import Run


class Cause(Rule):
    """A cause."""

    code, name, severity, explains = "A104", "a-cause", Severity.WARNING, ("O104",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        yield self.finding("cause", at=Location(run.program.cwd + "/train.py", 2), subjects=["optimizer:0"])


class Effect(Rule):
    """Its effect."""

    code, name, severity = "O104", "an-effect", Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for line, subject in ((1, "optimizer:0"), (3, "optimizer:1")):
            yield self.finding("effect", at=Location(run.program.cwd + "/train.py", line), subjects=[subject])


class Broken(Rule):
    """Fails half-way."""

    code, name, severity = "P101", "broken", Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        yield self.finding("half", at=None)
        raise KeyError("scaler")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    rules = (Cause(), Effect(), Broken())
    monkeypatch.setattr(judgement, "all_rules", lambda: rules)
    monkeypatch.setattr(rule, "all_rules", lambda: rules)
    (tmp_path / "train.py").write_text("one()\ntwo()\nthree()\n")
    run = Run()
    run.program.cwd = str(tmp_path)
    return run


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def test_effects_fold_into_causes_and_a_broken_rule_is_left_out(run: Run) -> None:
    faults: list[str] = []
    told = judge(run, Settings(), faults)
    assert codes(told) == ["O104", "A104"]  # the error first
    assert [str(evidence.text) for evidence in told[1].evidence] == ["O104: effect"]
    assert faults == ["rule P101 broken failed: KeyError: 'scaler'"]
    assert codes(judge(run, Settings())) == ["O104", "A104"]


def test_what_is_not_to_be_told(run: Run, tmp_path: Path) -> None:
    assert codes(judge(run, Settings(select=("A",)))) == ["A104"]
    assert codes(judge(run, Settings(ignore=("A",)))) == ["O104"]
    known = tmp_path / "baseline.json"
    write_baseline(known, judge(run, Settings(select=("O",))))
    assert codes(judge(run, Settings(baseline=known))) == ["A104"]
    (tmp_path / "train.py").write_text("one()\ntwo()  # caliper: ignore[A104]\nthree()\n")
    assert codes(judge(run, Settings())) == ["O104"]


def finding(code: str, line: int, count: int, first: int | None, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        code, "name", severity, Text("{n}", {"n": count}), Location("t.py", line), count=count, first_step=first
    )


def test_processes_add_up() -> None:
    merged = merge([finding("A101", 1, 3, 5), finding("O101", 1, 1, None), finding("A101", 1, 4, 2)])
    assert merged == [
        Finding("A101", "name", Severity.ERROR, Text("{n}", {"n": 4}), Location("t.py", 1), count=7, first_step=2),
        finding("O101", 1, 1, None),
    ]


@given(
    st.lists(
        st.builds(
            finding,
            st.sampled_from(["A101", "O101"]),
            st.integers(1, 3),
            st.integers(1, 9),
            st.none() | st.integers(0, 9),
            st.sampled_from(list(Severity)),
        )
    )
)
def test_merging_keeps_every_count_and_the_worst_first(findings: list[Finding]) -> None:
    merged = merge(findings)
    assert sum(f.count for f in merged) == sum(f.count for f in findings)
    assert len({f.identity for f in merged}) == len(merged) == len({f.identity for f in findings})
    assert [f.severity for f in merged] == sorted((f.severity for f in merged), reverse=True)
