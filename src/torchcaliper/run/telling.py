"""What a watched process tells while it runs and when it ends: live lines, the saved record, the closing summary."""

from __future__ import annotations

import errno
import json
import os
import select
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torchcaliper.configuration import Settings
from torchcaliper.findings import Finding, Severity
from torchcaliper.judgement import judge, merge
from torchcaliper.looking import table
from torchcaliper.looking.record import Look
from torchcaliper.report import console
from torchcaliper.report import json as json_report
from torchcaliper.report.summary import RunSummary
from torchcaliper.report.terminal import shows_colour, width_of
from torchcaliper.run.directory import RunDirectory
from torchcaliper.run.record import Run

#: first descriptor we may take for our copy of stderr: the program's own files keep the numbers they would have had
_HIGH_DESCRIPTORS = (500, 200, 50)


class OwnStderr:
    """The process's stderr as it was when the watch began, whatever the program does to `sys.stderr` or descriptor 2.

    Nothing is buffered, and it is never closed by Python: after a program has closed all descriptors, the number may
    stand for a file of its own, which is recognised and left alone.
    """

    encoding = "utf-8"

    def __init__(self) -> None:
        self._descriptor: int | None = None
        try:
            self._descriptor = _copy_of_stderr()
            self._identity = _identity(self._descriptor)
        except OSError:
            pass  # there is no stderr

    def fileno(self) -> int:
        """The descriptor; OSError when there is none."""
        if self._descriptor is None:
            raise OSError("no stderr")
        return self._descriptor

    def isatty(self) -> bool:
        """Whether somebody looks on."""
        return self._descriptor is not None and os.isatty(self._descriptor)

    def write(self, text: str) -> None:
        """Write all of `text`. OSError when nobody listens any more."""
        if self._descriptor is None:
            return
        if _identity(self._descriptor) != self._identity or _is_broken(self._descriptor):
            self._descriptor = None
            return
        left = memoryview(text.encode(self.encoding, "backslashreplace"))
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:  # a pipe that does not block and is full
                select.select([], [self._descriptor], [], 1.0)

    def close(self) -> None:
        """Close the descriptor. In a forked child it would keep the reader of a pipe waiting."""
        descriptor, self._descriptor = self._descriptor, None
        try:
            if descriptor is not None and _identity(descriptor) == self._identity:
                os.close(descriptor)
        except OSError:
            pass


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _is_broken(descriptor: int) -> bool:
    """Whether it is a pipe that nobody reads: writing would kill a program that has SIGPIPE at its default."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))


def _copy_of_stderr() -> int:
    try:
        import fcntl
    except ImportError:
        return os.dup(2)
    for lowest in _HIGH_DESCRIPTORS:
        try:
            return fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, lowest)
        except OSError as error:  # the limit of open files is lower
            if error.errno != errno.EINVAL:
                raise
    return os.dup(2)


class Telling:
    """One process's voice. `root`: it is the program's first process, which writes the summary and `--output`."""

    def __init__(self, directory: Path, options: dict[str, Any], *, root: bool, rank: int | None) -> None:
        self._directory = RunDirectory(directory)
        self._process = directory / f"process-{os.getpid()}"
        self._options = options
        self._settings = Settings.from_options(options)
        self._cwd = str(self._directory.about.get("cwd") or os.getcwd())
        # Under `torchrun -m torchcaliper run` every rank is a first process; one of them speaks for all.
        self._root = root and rank in (None, 0)
        self._audible = rank in (None, 0)
        self._told: set[Any] = set()
        self._stream = OwnStderr()
        self._colour = shows_colour(self._stream)
        self.faults: list[str] = []

    def say(self, text: str, *, minor: bool = False) -> None:
        """One line of our own; `--quiet` leaves out what is `minor`."""
        if self._audible and not (minor and self._options.get("quiet")):
            self._write(text + "\n")
        self.faults.append(text)

    def forsake(self) -> None:
        """This process is a fork of the one that had a voice."""
        self._stream.close()

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
        except OSError:
            self._audible = False  # nobody listens any more

    def judged(self, run: Run) -> bool:
        """Judge the record and tell what is new and certain; whether there was anything."""
        faults: list[str] = []
        known = len(self._told)
        for finding in judge(run, self._settings, faults):
            if finding.severity > Severity.ADVICE and finding.identity not in self._told:
                self._told.add(finding.identity)
                live = self._audible and not self._options.get("quiet") and self._options.get("format") != "json"
                if live and not self._told_elsewhere(finding):
                    width = width_of(self._stream)
                    self._write(console.render_finding(finding, self._cwd, width, self._colour, live=True) + "\n")
        for fault in faults:
            if fault not in self.faults:
                self.say(f"torchcaliper: {fault}")
        return len(self._told) > known

    def _told_elsewhere(self, finding: Finding) -> bool:
        """Whether another process of the run has told the same finding; notes that this one has."""
        key = json.dumps([finding.code, finding.location and [finding.location.path, finding.location.line]])
        path = self._directory.path / "told.jsonl"
        try:
            known = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            if key in known:
                return True
            with path.open("a", encoding="utf-8") as file:
                file.write(key + "\n")
        except OSError:
            pass
        return False

    def look(self, look: Look) -> None:
        """Show and keep the look at a step that `torchcaliper look` has asked for."""
        machine = self._options.get("look_format") == "json"
        file = self._options.get("look_output")
        wide = file is None
        text = look.to_json() if machine else table.render(look, width_of(self._stream), wide and self._colour)
        if not self._root:
            return
        if file is not None:
            _replace(Path(file), text)
        else:
            self._write(text)
        self._process.mkdir(parents=True, exist_ok=True)
        _replace(self._process / "look.json", look.to_json())

    def saved(self, run: Run) -> None:
        """Write the record, whole or not at all."""
        self._process.mkdir(parents=True, exist_ok=True)
        _replace(self._process / "record.json", run.to_json())
        if self._root and self._options.get("output") and self._options.get("format") == "json":
            # Kept up to date, so that a program that leaves by os._exit or a signal has its answer there.
            _replace(Path(self._options["output"]), self._document([run], judge(run, self._settings)))

    def _document(self, runs: Sequence[Run], findings: Sequence[Finding]) -> str:
        return json.dumps(json_report.document(findings, "run", RunSummary.of(runs), self._cwd), indent=1) + "\n"

    def close(self, run: Run, faults: Sequence[str]) -> None:
        """The process ends: the summary, and `--output`."""
        if faults:
            try:
                self._process.mkdir(parents=True, exist_ok=True)
                _replace(self._process / "faults.log", "\n".join(faults))
            except OSError:
                pass  # they have been said
        if not self._root:
            return
        others = [r for r in self._directory.records() if r.program.pid != run.program.pid]
        records = [run, *others]
        findings = merge(f for record in records for f in judge(record, self._settings))
        summary = RunSummary.of(others if others and run.steps == 0 else records)
        output, machine = self._options.get("output"), self._options.get("format") == "json"
        advice = self._settings.advice
        if output is not None:
            text = self._document(records, findings) if machine else ""
            if not machine:
                text = console.render(findings, summary, self._cwd, 100, False, advice=advice)
            _replace(Path(output), text)
        elif machine:
            self._write(self._document(records, findings))
        loud = any(f.severity > Severity.ADVICE for f in findings)
        if not self._audible or (machine and output is None) or (self._options.get("quiet") and not loud):
            return
        width = width_of(self._stream)
        self._write(console.render_summary(findings, summary, advice, width, self._colour, cwd=self._cwd))


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    os.replace(temporary, path)
