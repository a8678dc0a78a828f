"""Every rule is proven both ways: its faulty programs are named at their line, its sound ones are met with silence.

A proof is a small program in tests/proofs/<code>/. A faulty one says in a comment which lines are right
(`# line: 12, 14`) and, where a second finding is true as well, its code (`# also: M104`).
"""

from __future__ import annotations

import re
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from torchcaliper.rule import Rule, all_rules
from torchcaliper.run.blame import statement

HERE = Path(__file__).parent
PROOFS = sorted(p for p in HERE.glob("*/*.py") if p.stem.startswith(("faulty", "sound")))
SEVERITY = {rule.code: int(rule.severity) for rule in all_rules()}
BY_RUN = {rule.code for rule in all_rules() if type(rule).judge_run is not Rule.judge_run}


def header(path: Path, key: str) -> list[str]:
    found = re.findall(rf"^# {key}:\s*(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [word for line in found for word in re.split(r"[,\s]+", line.strip()) if word]


@pytest.mark.parametrize("proof", PROOFS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_proof(proof: Path, proofs: dict[Path, Future[dict[str, Any]]]) -> None:
    answer = proofs[proof].result()
    code = proof.parent.name
    assert not answer["faults"], answer["faults"]
    loud = [f for f in answer["findings"] if f["severity"] > 0]
    if proof.stem.startswith("sound"):
        assert not loud, [(f["code"], f["line"], f["message"]) for f in loud]
        assert code not in {f["code"] for f in answer["findings"]}, answer["findings"]
        assert answer["error"] is None, answer["error"]
        return
    allowed = {code, *header(proof, "also")}
    others = [(f["code"], f["line"], f["message"]) for f in loud if f["code"] not in allowed]
    assert not others, others
    if code not in BY_RUN:
        return  # only the source tells it: see test_source.py
    hits = [f for f in answer["findings"] if f["code"] == code]
    assert hits, (answer["findings"], answer["error"])
    assert max(f["severity"] for f in hits) >= SEVERITY[code]
    lines = [int(word) for word in header(proof, "line")]
    assert lines, "a faulty proof must say which line is at fault"
    spans = {statement(str(proof), line) for line in lines}
    places = [(Path(f["path"] or "").name, f["line"]) for f in hits]
    assert any(name == proof.name and first <= (line or 0) <= last for name, line in places for first, last in spans), (
        places,
        lines,
    )
    assert len(hits) <= 2, places
