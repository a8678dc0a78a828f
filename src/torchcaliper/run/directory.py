"""The run directories under `.torchcaliper/runs/`: made at launch, filled by every process, read by `report`.

.torchcaliper/runs/20260131-154500-3fa9c2/
    run.json                    what was started, where and when
    process-<pid>/record.json   the record of one watched process
    process-<pid>/faults.log    failures of the watch itself
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchcaliper.run.record import Run

#: what is left by `prune`
KEPT_RUNS = 50
KEPT_BYTES = 200_000_000


@dataclass
class RunDirectory:
    """One run on disk. Whatever is missing or broken in it reads as empty."""

    path: Path
    #: what `records` could not read, in words
    notes: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        self.path = Path(self.path)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def about(self) -> dict[str, Any]:
        """The content of run.json."""
        try:
            about = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return about if isinstance(about, dict) else {}

    @property
    def command(self) -> list[str]:
        """What was run, in the words of the command line: `["train.py", "--epochs", "3"]`."""
        command = self.about.get("command")
        return [str(word) for word in command] if isinstance(command, list) else []

    @property
    def started(self) -> datetime:
        """When it was started, in local time."""
        try:
            return datetime.fromisoformat(self.about["started"]).astimezone()
        except (KeyError, TypeError, ValueError):
            pass
        try:
            return datetime.strptime(self.id[:15], "%Y%m%d-%H%M%S").astimezone()
        except ValueError:
            pass
        try:
            return datetime.fromtimestamp(self.path.stat().st_mtime).astimezone()
        except OSError:
            return datetime.fromtimestamp(0).astimezone()

    @property
    def is_look(self) -> bool:
        """Whether it was started by `torchcaliper look`: then there are no findings in it."""
        options = self.about.get("options")
        return isinstance(options, dict) and options.get("look") is not None

    @property
    def signal(self) -> str:
        """The name of the signal that killed the first process, where it had a parent of ours (`--fail-on`)."""
        try:
            return str(json.loads((self.path / "exit.json").read_text(encoding="utf-8")).get("signal", ""))
        except (OSError, ValueError, AttributeError):
            return ""

    def killed(self, signal: str) -> None:
        """Note that a signal has killed the first process."""
        with contextlib.suppress(OSError):
            (self.path / "exit.json").write_text(json.dumps({"signal": signal}) + "\n", encoding="utf-8")

    def processes(self) -> list[Path]:
        """The folders of the watched processes, by pid."""
        try:
            folders = [entry for entry in self.path.iterdir() if _pid(entry) is not None and entry.is_dir()]
        except OSError:
            return []
        return sorted(folders, key=lambda folder: _pid(folder) or 0)

    def records(self) -> list[Run]:
        """The record of each watched process; broken ones are left out and named in `notes`."""
        from torchcaliper.run.record import Run

        self.notes.clear()
        records = []
        for folder in self.processes():
            file = folder / "record.json"
            try:
                records.append(Run.from_json(file.read_text(encoding="utf-8")))
            except FileNotFoundError:
                self.notes.append(f"{folder.name} left no record")
            except Exception as error:  # whatever half a file or another version's file leads to
                self.notes.append(f"{file}: unreadable ({type(error).__name__}: {error})")
        return records

    def size(self) -> int:
        """Bytes on disk."""
        total = 0
        for folder, _, files in os.walk(self.path):
            for name in files:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_size
                except OSError:
                    continue
        return total

    def may_be_running(self) -> bool:
        """Whether a process may still write here: the first one lives, or nobody can tell from this machine."""
        about = self.about
        pid = about.get("pid")
        if not isinstance(pid, int) or pid <= 0:
            return False
        if about.get("host") != socket.gethostname() or os.name == "nt":
            # On Windows `os.kill` with signal 0 is no question. A day without a written file is an answer.
            return datetime.now().timestamp() - self._last_write() < 86_400
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True

    def _last_write(self) -> float:
        latest = 0.0
        for file in (self.path / "run.json", *(folder / "record.json" for folder in self.processes())):
            try:
                latest = max(latest, file.stat().st_mtime)
            except OSError:
                continue
        return latest


def _pid(folder: Path) -> int | None:
    head, _, pid = folder.name.partition("-")
    return int(pid) if head == "process" and pid.isascii() and pid.isdigit() else None


def runs_folder(cwd: str | os.PathLike[str]) -> Path:
    """Where the runs started in `cwd` are."""
    return Path(cwd) / ".torchcaliper" / "runs"


def create(cwd: str | os.PathLike[str], command: Sequence[str], options: Mapping[str, Any]) -> RunDirectory:
    """Make the directory of a run that this process is about to become. OSError where that is impossible."""
    folder = runs_folder(cwd)
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder.parent / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    started = datetime.now().astimezone()
    path = folder / f"{started:%Y%m%d-%H%M%S}-{os.urandom(3).hex()}"
    path.mkdir()
    about = {
        "command": list(command),
        "cwd": os.path.abspath(cwd),
        "started": started.isoformat(),
        "options": dict(options),
        "host": socket.gethostname(),
        "pid": os.getpid(),
    }
    (path / "run.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return RunDirectory(path.resolve())


def list_runs(cwd: str | os.PathLike[str]) -> list[RunDirectory]:
    """The runs started in `cwd`, newest first."""
    try:
        entries = [entry for entry in runs_folder(cwd).iterdir() if entry.is_dir()]
    except OSError:
        return []
    runs = [RunDirectory(entry) for entry in entries if _is_run(entry)]
    return sorted(runs, key=lambda run: (run.started, run.id), reverse=True)


def find(name: str | None, cwd: str | os.PathLike[str]) -> RunDirectory:
    """The run called `name`: an id, the unique beginning of one, or a path; the newest for None.

    LookupError says what is wrong with the name.
    """
    runs = list_runs(cwd)
    if name is None:
        runs = [run for run in runs if not run.is_look]
        if not runs:
            raise LookupError(f"no runs under {runs_folder(cwd)}: start one with `torchcaliper run train.py`")
        return runs[0]
    for run in runs:
        if run.id == name:
            return run
    path = Path(cwd) / name
    if name and path.is_dir():
        if _is_run(path):
            return RunDirectory(path)
        if os.sep in name or not any(run.id.startswith(name) for run in runs):
            raise LookupError(f"{name} is no run directory (no run.json and no process-<pid> in it)")
    matching = [run for run in runs if name and run.id.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise LookupError(f"{name} is the beginning of {len(matching)} runs: {', '.join(run.id for run in matching)}")
    raise LookupError(f"no run {name!r} under {runs_folder(cwd)} (`torchcaliper runs` lists them)")


def prune(cwd: str | os.PathLike[str], *, runs: int = KEPT_RUNS, size: int = KEPT_BYTES) -> list[str]:
    """Delete the oldest runs until at most `runs` of them and `size` bytes are left; return the ids of the deleted.

    A run that may still be going on is never deleted, nor is the newest.
    """
    deleted = []
    kept_bytes = 0
    for place, run in enumerate(list_runs(cwd)):
        kept_bytes += run.size()
        if place == 0 or (place < runs and kept_bytes <= size) or run.may_be_running():
            continue
        kept_bytes -= run.size()
        shutil.rmtree(run.path, ignore_errors=True)
        deleted.append(run.id)
    return deleted


def _is_run(path: Path) -> bool:
    if (path / "run.json").is_file():
        return True
    try:
        return any(_pid(entry) is not None for entry in path.iterdir())
    except OSError:
        return False
