"""The verbs report, runs and rules, run for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchcaliper import judgement, rule, selection
from torchcaliper.cli import main
from torchcaliper.findings import Finding, Location, Severity
from torchcaliper.rule import Rule
from torchcaliper.run.record import Run


class GradientsNeverCleared(Rule):
    """Gradients are never cleared.

    ## What it finds
    Sums.
    """

    code, name, severity = "A103", "gradients-never-cleared", Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        yield self.finding("Added up.", at=Location(run.program.cwd + "/train.py", 1), count=run.steps, first_step=0)


class Float64Data(Rule):
    """Float64 batches."""

    code, name, severity = "D109", "float64-data", Severity.ADVICE

    def judge_run(self, run: Run) -> Iterator[Finding]:
        yield self.finding("Twice the memory.", at=None)


@pytest.fixture(autouse=True)
def _two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = (GradientsNeverCleared(), Float64Data())
    for module in (rule, judgement, selection):
        monkeypatch.setattr(module, "all_rules", lambda: rules)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two runs: one of two processes, and a newer one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "train.py").write_text("loss.backward()\n")
    keep("20260101-100000-aaaaaa", tmp_path, ["train.py", "--lr", "0.1 0.2"], [(100, "normal"), (100, None)])
    keep("20260102-100000-bbbbbb", tmp_path, ["-m", "pkg.train"], [(1240, "exception")])
    return tmp_path


def keep(name: str, cwd: Path, command: list[str], processes: list[tuple[int, str | None]]) -> None:
    folder = cwd / ".torchcaliper" / "runs" / name
    started = f"{name[:4]}-{name[4:6]}-{name[6:8]}T10:00:00+00:00"
    folder.mkdir(parents=True)
    for pid, (steps, ending) in enumerate(processes, 1):
        run = Run(steps=steps, seconds=2.0, overhead=0.01, deep_steps=7, ending=ending)
        run.program.cwd = str(cwd)
        (folder / f"process-{pid}").mkdir()
        (folder / f"process-{pid}" / "record.json").write_text(run.to_json())
    (folder / "run.json").write_text(json.dumps({"command": command, "cwd": str(cwd), "started": started}))


def test_report_shows_the_newest_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("error  A103 gradients-never-cleared")
    assert "train.py:1\n  1 | loss.backward()\n    | ~~~~~~~~~~~~~~~\n" in out
    assert "Every step since step 0 (1,240 times)." in out
    assert out.endswith(
        "1 error in 1,240 steps (7 looked at deeply; ended by an exception; watching cost 1.0 %); "
        "1 piece of advice: --advice\n"
    )
    assert "D109" not in out


@pytest.mark.parametrize("name", ["20260101", "20260101-100000-aaaaaa", ".torchcaliper/runs/20260101-100000-aaaaaa"])
def test_report_adds_the_processes_of_a_run(project: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["report", name, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(f["code"], f["count"], f["path"]) for f in report["findings"]] == [
        ("A103", 200, "train.py"),
        ("D109", 2, None),
    ]
    assert report["summary"] == {
        "errors": 1, "warnings": 0, "advice": 1, "steps": 100, "seconds": 2.0, "overhead": pytest.approx(0.01),
        "deep_steps": 7, "ending": None, "processes": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-on", "error"], 1),
        (["--fail-on", "error", "--ignore", "A"], 0),
        (["--fail-on", "advice", "--ignore", "A"], 1),
        (["--fail-on", "warning", "--select", "D"], 0),
        ([], 0),
    ],
)
def test_fail_on(project: Path, options: list[str], code: int) -> None:
    assert main(["report", *options]) == code


def test_the_configuration_holds_for_reports(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text('[tool.torchcaliper]\nfail-on = "error"\nadvice = true\n')
    assert main(["report"]) == 1
    assert "D109" in capsys.readouterr().out
    (project / "pyproject.toml").write_text("[tool.torchcaliper]\nfail = 1\n")
    assert main(["report"]) == 2


def test_a_baseline_holds_back_what_it_knows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--write-baseline", "known.json"]) == 0
    assert "2 findings written" in capsys.readouterr().err
    assert main(["report", "--baseline", "known.json", "--fail-on", "advice"]) == 0
    assert capsys.readouterr().out.startswith("no faults seen in 1,240 steps")
    (project / "train.py").write_text("\n\nloss.backward()\n")
    assert main(["report", "--baseline", "known.json", "--fail-on", "error"]) == 1


def test_output_goes_to_a_file(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["report", "--output", "report.txt"]) == 0
    assert capsys.readouterr().out == ""
    assert (project / "report.txt").read_text().startswith("error  A103")


def test_runs_are_listed_newest_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == 0
    heading, newest, oldest = capsys.readouterr().out.splitlines()
    assert heading.split() == ["RUN", "WHEN", "ENDED", "STEPS", "ERRORS", "WARNINGS", "ADVICE", "COMMAND"]
    assert newest.split()[:1] + newest.split()[4:] == [
        "20260102-100000-bbbbbb", "exception", "1,240", "1", "0", "1", "-m", "pkg.train",
    ]  # fmt: skip
    assert oldest.split()[:1] + oldest.split()[4:] == [
        "20260101-100000-aaaaaa", "killed", "100", "1", "0", "1", "train.py", "--lr", "'0.1", "0.2'",
    ]  # fmt: skip


def test_a_narrow_terminal_shows_commands_below(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == "    -m pkg.train"
    assert max(map(len, lines)) <= 80


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert capsys.readouterr().out == (
        "A103  error   gradients-never-cleared  Gradients are never cleared.\n"
        "D109  advice  float64-data             Float64 batches.\n"
    )


def test_a_rule_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "a103"]) == 0
    assert capsys.readouterr().out == (
        "A103 gradients-never-cleared (error)\n\nGradients are never cleared.\n\nWhat it finds\nSums.\n"
    )
    assert main(["rules", "A103", "--format", "json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert (entry["code"], entry["severity"], entry["stage"]) == ("A103", "error", "autograd")
    assert "## What it finds" in entry["page"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "required: verb"),
        (["nonsense"], "invalid choice"),
        (["rules", "A104"], "near: A103"),
        (["report", "nonsense"], "no run 'nonsense'"),
        (["report", "2026"], "2 runs"),
        (["report", "--select", "Z"], "--select: no rule"),
        (["report", "--baseline", "none.json"], "cannot read"),
        (["report", "--output", "no/such/folder"], "cannot write"),
        (["report", "--fail-on", "all"], "--fail-on"),
    ],
)
def test_wrong_usage_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], command: list[str], message: str
) -> None:
    assert main(command) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("torchcaliper")
    assert message in captured.err


def test_a_broken_record_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = project / ".torchcaliper" / "runs" / "20260102-100000-bbbbbb" / "process-1" / "record.json"
    record.write_text("{")
    assert main(["report"]) == 2
    assert "unreadable" in capsys.readouterr().err
    assert main(["runs"]) == 0


def test_a_run_without_records(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep("20260103-100000-cccccc", project, ["hello.py"], [])
    assert main(["runs"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[4] == "unknown"
    assert main(["report"]) == 0
    assert capsys.readouterr().out == "nothing was recorded\n"


def test_an_empty_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["runs"]) == 0
    assert "no runs" in capsys.readouterr().out
    assert main(["report"]) == 2


def plain(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    return subprocess.run(
        [sys.executable, "-m", "torchcaliper", *command], capture_output=True, text=True, env=environment, check=False
    )


def test_version_and_help() -> None:
    assert plain("--version").stdout.startswith("torchcaliper ")
    began = time.perf_counter()
    help_text = plain("--help").stdout
    # Measured at 40 ms; the bound only has to catch an import of torch or of the rules.
    assert time.perf_counter() - began < 1.0
    for verb in ("run", "report", "runs", "rules"):
        assert f"    {verb} " in help_text


@pytest.mark.parametrize("verb", [["--help"], ["rules"], ["runs"]])
def test_no_verb_imports_torch(verb: list[str], tmp_path: Path) -> None:
    code = f"import sys; from torchcaliper.cli import main; main({verb!r}); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="closed pipes are another error there")
def test_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [sys.executable, "-m", "torchcaliper", "rules"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == (0, "")
