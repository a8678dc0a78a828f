"""From paths to findings."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from torchcaliper.errors import UsageError
from torchcaliper.source.answer import Answer, Problem
from torchcaliper.source.file import parse
from torchcaliper.source.project import Project, mentions_torch
from torchcaliper.source.text import Unreadable

#: folders that hold no source of the user's own
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", "site-packages", "build", "dist", ".venv", "venv"}
)
_ENDINGS = (".py", ".pyw", ".ipynb")


def source_files(paths: Iterable[str], exclude: Sequence[str] = ()) -> Iterator[Path]:
    """The files to read: those named, and those below the folders named, without what `exclude` matches.

    Patterns are those of shells, matched against each name and against each path relative to the folder named.
    UsageError where a path does not exist.
    """
    for given in paths:
        path = Path(given)
        if path.is_file():
            yield path
        elif path.is_dir():
            for folder, folders, names in os.walk(path):
                inner = os.path.relpath(folder, path)
                folders[:] = sorted(
                    d
                    for d in folders
                    if d not in _LEFT_OUT
                    and not Path(folder, d, "pyvenv.cfg").exists()
                    and not _is_excluded(inner, d, exclude)
                )
                yield from (
                    Path(folder, name)
                    for name in sorted(names)
                    if name.endswith(_ENDINGS) and not _is_excluded(inner, name, exclude)
                )
        else:
            raise UsageError(f"no such file or directory: {given}")


def _is_excluded(folder: str, name: str, exclude: Sequence[str]) -> bool:
    relative = name if folder == os.curdir else f"{folder}/{name}".replace(os.sep, "/")
    return any(fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(relative, pattern) for pattern in exclude)


def check_file(path: Path, content: bytes, project: Project) -> Answer:
    """Read and judge one file; `path` is absolute."""
    answer = Answer(lines=content.count(b"\n"))
    if not mentions_torch(content):
        return answer
    try:
        file = parse(str(path), content)
        project.add(path, file)
        # Imported late: files without torch, and answers from the cache, need neither rules nor interpreter.
        from torchcaliper.judgement import find_in_source
        from torchcaliper.source.reading import read_program

        faults: list[str] = []
        answer.findings = find_in_source(read_program(project, file), faults)
        answer.problems = [Problem(str(path), 0, fault, ours=True) for fault in faults]
    except Unreadable as error:
        answer.problems.append(Problem(str(path), error.line, str(error)))
    except RecursionError:
        answer.problems.append(Problem(str(path), 0, "nested too deeply to be followed"))
    return answer
