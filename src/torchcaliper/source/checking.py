"""From paths to findings."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from torchcaliper.configuration import Settings
from torchcaliper.errors import UsageError
from torchcaliper.findings import Finding
from torchcaliper.judgement import judge_source, merge
from torchcaliper.source.file import parse
from torchcaliper.source.project import Project, mentions_torch
from torchcaliper.source.reading import read_program
from torchcaliper.source.text import Unreadable

#: folders that hold no source of the user's own
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", "site-packages", "build", "dist", ".venv", "venv"}
)
_ENDINGS = (".py", ".pyw", ".ipynb")


@dataclass(slots=True)
class Problem:
    """A file that could not be read or judged, said in one line. `ours` where the fault is torchcaliper's."""

    path: str
    line: int
    message: str
    ours: bool = False


@dataclass(slots=True)
class Checked:
    """What was found in some files."""

    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: int = 0
    lines: int = 0


def source_files(paths: Iterable[str]) -> Iterator[Path]:
    """The files to read: those named, and those below the folders named. UsageError where a path does not exist."""
    for given in paths:
        path = Path(given)
        if path.is_file():
            yield path
        elif path.is_dir():
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(
                    d for d in folders if d not in _LEFT_OUT and not Path(folder, d, "pyvenv.cfg").exists()
                )
                yield from (Path(folder, name) for name in sorted(names) if name.endswith(_ENDINGS))
        else:
            raise UsageError(f"no such file or directory: {given}")


def check(files: Iterable[Path], settings: Settings) -> Checked:
    """Read and judge files, one after the other."""
    result, project = Checked(), Project()
    collecting = gc.isenabled()
    # A tree is a heap of objects without cycles: the collector would walk it in vain again and again.
    gc.disable()
    try:
        for path in files:
            check_file(path, project, settings, result)
    finally:
        if collecting:
            gc.enable()
    result.findings = merge(result.findings)
    return result


def check_file(path: Path, project: Project, settings: Settings, result: Checked) -> None:
    """Read and judge one file; what is found is added to `result`."""
    result.files += 1
    try:
        content = path.read_bytes()
    except OSError as error:
        result.problems.append(Problem(str(path), 0, f"cannot be read: {error.strerror}"))
        return
    result.lines += content.count(b"\n")
    if not mentions_torch(content):
        return
    try:
        file = parse(str(path), content)
    except Unreadable as error:
        result.problems.append(Problem(str(path), error.line, str(error)))
        return
    project.add(path.absolute(), file)
    faults: list[str] = []
    result.findings += judge_source(read_program(project, file), settings, faults)
    result.problems += [Problem(str(path), 0, fault, ours=True) for fault in faults]
