"""`torchcaliper look`, and what `report` knows of a program that was killed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from harness import Outcome, execute, python, write

PROGRAM = """
    import sys
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(net.parameters())
    for step in range(6):
        x = torch.randn(8, 4)
        loss = (net(x) - x[:, :2]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    sys.exit(3)
"""


def verb(*words: str) -> list[str]:
    return [sys.executable, "-m", "torchcaliper", *words]


def run(folder: Path, *words: str) -> Outcome:
    return execute(verb(*words), folder=folder)[0]


def test_one_step_is_shown_and_the_program_goes_on(tmp_path: Path) -> None:
    write(tmp_path, "train.py", PROGRAM)
    plain, looked = execute(python(["train.py"]), verb("look", "--step", "3", "train.py"), folder=tmp_path)
    assert (looked.stdout, looked.code) == (plain.stdout, 3)
    assert "train.py:10   loss = (net(x) - x[:, :2]).pow(2).mean()" in looked.stderr
    assert "SubBackward0" in looked.stderr
    assert looked.stderr.splitlines()[-1].startswith("step 3: ")


def test_a_look_as_json(tmp_path: Path) -> None:
    write(tmp_path, "train.py", PROGRAM)
    looked = run(tmp_path, "look", "--format", "json", "--output", "look.json", "train.py")
    assert looked.stderr == ""
    rows = json.loads((tmp_path / "look.json").read_text())["rows"]
    assert [row["operator"] for row in rows[:3]] == ["linear", "relu", "linear"]


def test_a_step_that_never_came(tmp_path: Path) -> None:
    write(tmp_path, "train.py", PROGRAM)
    looked = run(tmp_path, "look", "--step", "60", "train.py")
    assert "step 60: not seen: the program made 6 training steps" in looked.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_the_report_names_the_signal(tmp_path: Path) -> None:
    write(tmp_path, "train.py", PROGRAM.replace("sys.exit(3)", "import os; os.kill(os.getpid(), 11)"))
    assert run(tmp_path, "run", "--fail-on", "error", "train.py").code == -11
    assert "killed by SIGSEGV, a segmentation fault" in run(tmp_path, "report").stdout


def test_a_look_is_no_run_to_report_on(tmp_path: Path) -> None:
    write(tmp_path, "train.py", PROGRAM)
    run(tmp_path, "look", "train.py")
    assert run(tmp_path, "report").code == 2
    assert " look " in run(tmp_path, "runs").stdout
