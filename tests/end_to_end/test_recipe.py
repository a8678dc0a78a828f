"""The recipe is what it teaches: a killed run goes on to the same bits, and the watch finds nothing in it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from harness import document, execute, python, watched

pytest.importorskip("sklearn")
torch = pytest.importorskip("torch")

RECIPE = Path(__file__).parents[2] / "recipes" / "train_and_land.py"


def program(checkpoint: Path, *options: str) -> list[str]:
    return [str(RECIPE), "--epochs", "3", "--batch-size", "128", "--checkpoint", str(checkpoint), *options]


def kill_after_first_epoch(command: list[str], folder: Path) -> None:
    """Start a training and kill it, without a chance to clean up, once it has told of its first epoch."""
    child = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline().startswith("epoch 0:")
    finally:
        if os.name == "nt":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)  # its workers with it
        child.communicate()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path, workers: int) -> None:
    options = ("--workers", str(workers))
    kill_after_first_epoch(python(program(tmp_path / "broken.pt", *options)), tmp_path)
    left = torch.load(tmp_path / "broken.pt", weights_only=True)
    whole, resumed = execute(
        python(program(tmp_path / "whole.pt", *options)),
        python(program(tmp_path / "broken.pt", "--resume", *options)),
        folder=tmp_path,
    )
    assert (whole.code, whole.stderr) == (0, "")
    assert (resumed.code, resumed.stderr) == (0, "")

    # What it prints from the first resumed epoch on, and everything it leaves, equal the uninterrupted run's.
    assert resumed.stdout.splitlines()[1:] == whole.stdout.splitlines()[left["epoch"] + 1 :]
    for suffix in ("", "-best"):
        expected = torch.load(tmp_path / f"whole{suffix}.pt", weights_only=True)
        found = torch.load(tmp_path / f"broken{suffix}.pt", weights_only=True)
        assert_equal(found, expected)


def assert_equal(found: object, expected: object) -> None:
    """The same structure and, in tensors and numbers, the same bits."""
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        assert found.keys() == expected.keys()
        for key in expected:
            assert_equal(found[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert isinstance(found, list | tuple)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
    elif isinstance(expected, torch.Tensor):
        assert torch.equal(found, expected)
    else:
        assert found == expected


def test_a_resume_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    outcome = execute(python(program(tmp_path / "none.pt", "--resume")), folder=tmp_path)[0]
    assert outcome.code == 1
    assert "FileNotFoundError" in outcome.stderr


@pytest.mark.parametrize("workers", [0, 2])
def test_the_watch_finds_nothing_in_it(tmp_path: Path, workers: int) -> None:
    report = tmp_path / "report.json"
    outcome = watched(
        program(tmp_path / "digits.pt", "--workers", str(workers)),
        tmp_path,
        options=["--quiet", "--format", "json", "--output", str(report)],
    )
    assert outcome.code == 0, outcome.stderr
    assert outcome.stderr == ""
    assert document(report)["findings"] == []
