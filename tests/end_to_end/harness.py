"""Run a program twice, under plain Python and under watch, and compare what comes out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchcaliper.rule import Stage

#: nothing of ours on stderr, whatever the rules think of the programs used here
SILENT = ("--quiet", "--ignore", ",".join(stage.value for stage in Stage))


@dataclass(frozen=True)
class Outcome:
    """How a program ended and what it wrote."""

    code: int
    stdout: str
    stderr: str

    def sorted(self) -> Outcome:
        """The same with its lines in alphabetical order, for programs of several processes."""
        return Outcome(self.code, "\n".join(sorted(self.stdout.split("\n"))), self.stderr)


def write(folder: Path, name: str, text: str) -> Path:
    """Write a program, dedented, into `folder`."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return file


def _start(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        list(command),
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100", **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job, such as a CI step may be, ignores Ctrl-C, and its children with it.
        preexec_fn=_hear_interrupts if os.name != "nt" else None,
    )


def _finish(child: subprocess.Popen[str], stdin: str, send: signal.Signals | None) -> Outcome:
    head = ""
    if send is not None:
        assert child.stdout is not None
        while not head.endswith("ready\n"):
            line = child.stdout.readline()
            if not line:
                break
            head += line
        # Let it go on from printing to what it does next.
        time.sleep(0.3)
        child.send_signal(send)
    stdout, stderr = child.communicate(stdin, timeout=120)
    return Outcome(child.returncode, head + stdout, stderr)


def execute(
    *commands: Sequence[str],
    folder: Path,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    send: signal.Signals | None = None,
) -> list[Outcome]:
    """Run commands in `folder`, side by side. With `send`, each is sent that signal when it has printed `ready`."""
    children = [_start(command, folder, environment) for command in commands]
    try:
        return [_finish(child, stdin, send) for child in children]
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.communicate()


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def python(program: Sequence[str], flags: Sequence[str] = ()) -> list[str]:
    """The command `python PROGRAM...`."""
    return [sys.executable, *flags, *program]


def caliper(program: Sequence[str], options: Sequence[str] = SILENT, flags: Sequence[str] = ()) -> list[str]:
    """The command `python -m torchcaliper run OPTIONS... PROGRAM...`."""
    return [sys.executable, *flags, "-m", "torchcaliper", "run", *options, *program]


def watched(program: Sequence[str], folder: Path, options: Sequence[str] = SILENT, **keywords: Any) -> Outcome:
    """Run a program under watch."""
    return execute(caliper(program, options), folder=folder, **keywords)[0]


def both(
    program: Sequence[str],
    folder: Path,
    *,
    options: Sequence[str] = SILENT,
    flags: Sequence[str] = (),
    **keywords: Any,
) -> tuple[Outcome, Outcome]:
    """What plain Python and the watch make of the same program."""
    commands = python(program, flags), caliper(program, options, flags)
    expected, found = execute(*commands, folder=folder, **keywords)
    return expected, found


def assert_same(program: Sequence[str], folder: Path, **keywords: Any) -> Outcome:
    """Run a program both ways; exit code, stdout and stderr must be equal byte for byte."""
    expected, found = both(program, folder, **keywords)
    assert found.stderr == expected.stderr
    assert found.stdout == expected.stdout
    assert found.code == expected.code
    return found


def runs(folder: Path) -> list[Path]:
    """The run directories that were made in `folder`."""
    return sorted(path for path in (folder / ".torchcaliper" / "runs").glob("*") if path.is_dir())


def attached(folder: Path) -> set[int]:
    """Pids of the processes that torchcaliper was attached to, in the runs of `folder`."""
    return {int(path.name.removeprefix("process-")) for run in runs(folder) for path in run.glob("process-*")}


def document(file: Path) -> Any:
    """A JSON report."""
    return json.loads(file.read_text(encoding="utf-8"))
