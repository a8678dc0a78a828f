"""The proofs again, from source alone: what lint can know is named at the same lines, sound programs meet silence.

A faulty proof whose rule judges source, and whose fault the source does not tell, says so and why:
`# source: silent, the sizes come from a file`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from test_proofs import PROOFS, SEVERITY, header

from torchcaliper.configuration import Settings
from torchcaliper.findings import Finding, Severity
from torchcaliper.judgement import select
from torchcaliper.rule import Rule, all_rules
from torchcaliper.run.blame import statement
from torchcaliper.source.checking import check_file
from torchcaliper.source.project import Project

BY_SOURCE = {rule.code for rule in all_rules() if type(rule).judge_source is not Rule.judge_source}


@cache
def _findings(proof: Path) -> list[Finding]:
    answer = check_file(proof, proof.read_bytes(), Project())
    assert not answer.problems, answer.problems
    return select(answer.findings, Settings())


@pytest.mark.parametrize("proof", PROOFS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_proof_from_source(proof: Path) -> None:
    code = proof.parent.name
    findings = _findings(proof)
    loud = {f.code for f in findings if f.severity > Severity.ADVICE}
    shown = [(f.code, f.location, str(f.message)) for f in findings]
    if proof.stem.startswith("sound"):
        assert not loud, shown
        assert code not in {f.code for f in findings}, shown
        return
    assert loud <= {code, *header(proof, "also")}, shown
    hits = [f for f in findings if f.code == code]
    if code not in BY_SOURCE or header(proof, "source")[:1] == ["silent"]:
        return
    assert hits, shown
    assert max(int(f.severity) for f in hits) >= SEVERITY[code]
    spans = [statement(str(proof), int(line)) for line in header(proof, "line")]
    lines = [f.location.line for f in hits if f.location is not None]
    assert any(first <= line <= last for first, last in spans for line in lines), (lines, spans)
    assert len(hits) <= 2, shown
