"""The demo shows what it promises: each of its faults at its line, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import document, watched

pytest.importorskip("sklearn")
pytest.importorskip("torch")

DEMO = Path(__file__).parents[2] / "demo" / "digits_faulty.py"

#: the faulty lines, by code
FAULTS = {
    "M101": "self.blocks = [nn.Linear(width, width) for _ in range(depth)]",
    "A103": "optimizer.zero_grad()",
    "A105": "history.append(loss)",
    "M115": "correct += (model(images).argmax(dim=1) == labels).sum().item()",
    "O107": "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)",
}


def test_each_fault_of_the_demo_is_found_at_its_line(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    outcome = watched([str(DEMO)], tmp_path, ["--quiet", "--format", "json", "--output", str(report)])
    assert outcome.code == 0, outcome.stderr
    lines = DEMO.read_text(encoding="utf-8").splitlines()
    findings = document(report)["findings"]
    assert {finding["code"]: lines[finding["line"] - 1].strip() for finding in findings} == FAULTS
    assert len(findings) == len(FAULTS)
