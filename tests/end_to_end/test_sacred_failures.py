"""Whatever fails in the watch, and however the program ends: the program's own results stay, and the findings too."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import Outcome, both, execute, runs, watched, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and forks are those of POSIX")

HERE = Path(__file__).parent
PARTS = ("instruments", "sites", "judging", "saving", "objects", "refresh", "emit")
#: gradients that are never cleared (A103)
FAULTY = """
import os, signal, sys, time
import torch
from torch import nn

def train(seconds=0.0, steps=40):
    torch.manual_seed(0)
    net = nn.Linear(8, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    begin, step = time.monotonic(), 0
    while step < steps or time.monotonic() - begin < seconds:
        loss = nn.functional.cross_entropy(net(torch.randn(4, 8)), torch.randint(3, (4,)))
        loss.backward()
        optimizer.step()
        step += 1
        time.sleep(0.001 if seconds else 0)
    return loss.item()
"""


def report(folder: Path) -> str:
    """What `torchcaliper report` says of the only run in `folder`."""
    return execute([sys.executable, "-m", "torchcaliper", "report"], folder=folder)[0].stdout


# parts of the watch that fail -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the outcomes of the programs in `failing/`, plain and watched."""
    folder = tmp_path_factory.mktemp("failing")
    source = folder / "source"
    write(source, "timers.py", (HERE / "failing" / "timers.py").read_text())
    for part in PARTS:
        write(source, f"injected_{part}.py", (HERE / "failing" / "injected.py").read_text())
    names = sorted(path.stem for path in source.glob("*.py"))
    for how in ("plain", "watched"):
        (folder / how).mkdir()
        command = [sys.executable, str(HERE / "sacred_driver.py"), how, str(source), str(folder / how), *names]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, timeout=200)
    return folder


@pytest.mark.parametrize("part", PARTS)
def test_a_failing_part_is_switched_off(failing: Path, part: str) -> None:
    plain, found = (
        Outcome(*((failing / how / f"injected_{part}.{what}").read_text() for what in ("code", "out", "err")))  # type: ignore[arg-type]
        for how in ("plain", "watched")
    )
    assert (found.code, found.stdout) == (plain.code, plain.stdout) == ("0", plain.stdout)
    told = found.stderr.splitlines()
    said = r"torchcaliper: (.+) failed \((LookupError: injected|OSError: .*)\) and is switched off; the program goes on"
    parts = [match[1] for line in told if (match := re.fullmatch(said, line))]
    assert len(parts) == len(set(parts)) > 0
    # An `emit` that fails has no summary either.
    assert len(told) - len(parts) == (part == "emit"), told


def test_what_signal_handlers_raise_is_the_programs(failing: Path) -> None:
    for how in ("plain", "watched"):
        assert (failing / how / "timers.out").read_text() == "True\n"
        assert (failing / how / "timers.code").read_text() == "0"
    assert not list(failing.glob("watched/timers.run/process-*/faults.log"))


# compiled programs ----------------------------------------------------------------------------------------------


def test_compiled_programs_have_the_same_graphs(tmp_path: Path) -> None:
    expected, found = both([str(HERE / "sacred_compiled.py")], tmp_path)
    assert expected.code == found.code == 0, found.stderr
    assert found.stdout == expected.stdout
    assert "torchcaliper" not in found.stderr


# how the program ends -------------------------------------------------------------------------------------------

ENDS = {
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "terminate": "os.kill(os.getpid(), signal.SIGTERM)",
    "_exit": "os._exit(0)",
    "interrupt": "signal.raise_signal(signal.SIGINT)",
    "three": "sys.exit(3)",
    "zero": "",
    "raise": "raise ValueError('end')",
}
#: program's end, options -> exit code
CODES = {
    ("kill", ()): -signal.SIGKILL,
    ("_exit", ()): 0,
    ("interrupt", ()): -signal.SIGINT,
    ("zero", ()): 0,
    ("zero", ("--fail-on", "error")): 1,
    ("zero", ("--fail-on", "error", "--ignore", "A103")): 0,
    ("_exit", ("--fail-on", "error")): 1,
    ("three", ("--fail-on", "error")): 3,
    ("raise", ("--fail-on", "error")): 1,
    ("terminate", ("--fail-on", "error")): -signal.SIGTERM,
    ("interrupt", ("--fail-on", "error")): -signal.SIGINT,
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, tuple[str, ...]], tuple[Outcome, str]]:
    """How each run has ended, and the report on it. All run at once: they sleep most of the time."""

    def run(key: tuple[str, tuple[str, ...]]) -> tuple[Outcome, str]:
        end, options = key
        folder = tmp_path_factory.mktemp(end)
        # Long enough to be saved while it runs.
        write(folder, "t.py", f"{FAULTY}\ntrain(seconds={0 if options else 2.5})\n{ENDS[end]}\n")
        return watched(["t.py"], folder, options=options), report(folder)

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(CODES, pool.map(run, CODES), strict=True))


@pytest.mark.parametrize("key", CODES, ids=lambda key: " ".join((key[0], *key[1])))
def test_end(ended: dict[tuple[str, tuple[str, ...]], tuple[Outcome, str]], key: tuple[str, tuple[str, ...]]) -> None:
    outcome, told = ended[key]
    assert outcome.code == CODES[key], outcome.stderr
    if "--ignore" in key[1]:
        return
    assert "error  A103" in told or "_exit" in key[0] or key[0] == "terminate"
    # Once live, and once in the summary where the process comes to it.
    summed_up = key[0] not in ("kill", "terminate", "_exit")
    assert outcome.stderr.count("error  A103") == 1 + summed_up, outcome.stderr
    assert ("torchcaliper report" in outcome.stderr) == summed_up
    assert outcome.stderr.count("Traceback") == (key[0] in ("interrupt", "raise"))


def test_signals_to_a_supervised_run_reach_the_program(tmp_path: Path) -> None:
    body = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\nprint('ready', flush=True)\ntime.sleep(60)\n"
    write(tmp_path, "t.py", f"{FAULTY}\ntrain()\n{body}")
    found = watched(["t.py"], tmp_path, options=("--fail-on", "error"), send=signal.SIGTERM)
    assert (found.code, found.stdout) == (9, "ready\n")
    write(tmp_path, "t.py", f"{FAULTY}\nprint('ready', flush=True)\ntime.sleep(60)\n")
    begin = time.monotonic()
    found = watched(["t.py"], tmp_path, options=("--fail-on", "error"), send=signal.SIGKILL)
    assert found.code == -signal.SIGKILL
    # Its output has ended, so the program has.
    assert time.monotonic() - begin < 50


# its files and processes ----------------------------------------------------------------------------------------


def test_a_program_that_moves_about_and_deletes_itself(tmp_path: Path) -> None:
    body = "os.makedirs('elsewhere')\nos.chdir('elsewhere')\nos.remove('../t.py')\ntrain()\nprint(os.listdir('.'))\n"
    write(tmp_path, "scripts/model.py", FAULTY)
    write(tmp_path, "t.py", f"import os, sys\nsys.path.insert(0, 'scripts')\nfrom model import train\n{body}")
    found = watched(["t.py"], tmp_path, options=())
    assert (found.code, found.stdout) == (0, "[]\n")
    assert re.search(r"error  A103 .* scripts/model\.py:\d+\n", found.stderr)
    assert len(runs(tmp_path)) == 1
    assert "scripts/model.py:" in report(tmp_path)


@pytest.mark.parametrize(
    "loss",
    [
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))",
        "shutil.rmtree('.torchcaliper'); open('.torchcaliper', 'w')",
    ],
    ids=["full", "gone"],
)
def test_a_disk_that_fails_costs_one_line(tmp_path: Path, loss: str) -> None:
    write(tmp_path, "t.py", f"{FAULTY}\nimport resource, shutil\n{loss}\nprint(train())\n")
    found = watched(["t.py"], tmp_path, options=())
    assert found.code == 0
    assert found.stderr.count("torchcaliper: ") == found.stderr.count("torchcaliper: saving the log failed (") == 1
    assert "1 error in 40 steps" in found.stderr


def test_children_that_train_are_told_of(tmp_path: Path) -> None:
    body = """
import multiprocessing
from model import train

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        child = multiprocessing.get_context(method).Process(target=train)
        child.start()
        child.join()
        print(child.exitcode)
"""
    write(tmp_path, "model.py", FAULTY)
    write(tmp_path, "t.py", body)
    found = watched(["t.py"], tmp_path, options=("--fail-on", "error"))
    assert (found.code, found.stdout) == (1, "0\n0\n0\n")
    assert "1 error in 40 steps of 3 processes" in found.stderr
    # One record of each, and findings that are told once while they run.
    assert found.stderr.count("error  A103") == 2


def test_a_daemon_does_not_keep_its_starter_waiting(tmp_path: Path) -> None:
    body = """
train()
if os.fork() == 0:
    os.setsid()
    for number in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    time.sleep(3)
    train()
    open("done", "w").close()
    os._exit(0)
"""
    write(tmp_path, "t.py", FAULTY + body)
    found = watched(["t.py"], tmp_path, options=())
    # All readers of its output have seen the end of it by now.
    assert found.code == 0
    assert not (tmp_path / "done").exists()
