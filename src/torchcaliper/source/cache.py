"""Answers of earlier calls, for files that have not changed, nor what they import.

An answer holds as long as the content of its file, the contents of all files that it imports, directly or not, what
its imports are found to be, and torchcaliper itself are the same. The cache is a convenience: whatever goes wrong with
it, files are read anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

from torchcaliper.source.answer import Answer, unpacked
from torchcaliper.source.project import Project
from torchcaliper.version import __version__

_MASK = 2**128 - 1
#: what an import was found to be: module, level, file
Asked = list[tuple[str, int, str | None]]


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def state_of_tool() -> str:
    """What stands for torchcaliper itself: its version, the Python that parses, its own files."""
    package = Path(__file__).resolve().parent.parent
    state = blake2b(f"{__version__} {sys.version_info[:3]}".encode(), digest_size=16)
    for folder, _, names in sorted(os.walk(package)):
        for name in sorted(names):
            if name.endswith(".py"):
                about = os.stat(os.path.join(folder, name))
                state.update(f"{name} {about.st_size} {about.st_mtime_ns}".encode())
    return state.hexdigest()


class Cache:
    """The cache of a folder, read as a whole when it is opened and written as a whole at the end."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / ".torchcaliper" / "lint.sqlite"
        self._tool = state_of_tool()
        self._imports: dict[str, tuple[str, Asked]] = {}
        self._answers: dict[str, tuple[str, str]] = {}
        self._new: dict[str, str] = {}
        self._states: dict[str, tuple[int, tuple[str, ...]] | None] = {}
        self._new_imports: dict[str, tuple[str, Asked]] = {}
        self._project = Project()
        self._digests: dict[str, str | None] = {}
        self._read()

    def get(self, path: str, content: bytes) -> Answer | None:
        """The answer for a file with this content; None when there is none that holds."""
        self._digests[path] = digest(content)
        stored = self._answers.get(path)
        if stored is None or self._key(path) != stored[0]:
            return None
        try:
            return unpacked(json.loads(stored[1]))
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, path: str, data: dict[str, Any], asked: dict[str, Asked]) -> None:
        """Take an answer (packed) and the imports of the files that it depends on."""
        for file, imports in asked.items():
            known = self._digest(file)
            if known is not None and self._new_imports.get(file) != (known, imports):
                self._new_imports[file] = (known, imports)
        self._new[path] = json.dumps(data)

    def save(self) -> None:
        """Write what is new."""
        if not self._new:
            return
        with contextlib.suppress(OSError, sqlite3.Error):
            folder = self._file.parent
            folder.mkdir(exist_ok=True)
            ignore = folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            with contextlib.closing(sqlite3.connect(self._file, timeout=2)) as store, store:
                _create(store)
                store.execute("DELETE FROM answers WHERE tool != ?", (self._tool,))
                store.execute("DELETE FROM imports WHERE tool != ?", (self._tool,))
                # What is imported is known only now, when every file has been read.
                self._states.clear()
                rows = [(p, self._tool, key, a) for p, a in self._new.items() if (key := self._key(p)) is not None]
                store.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
                asked = [(p, self._tool, d, json.dumps(a)) for p, (d, a) in self._new_imports.items()]
                store.executemany("INSERT OR REPLACE INTO imports VALUES (?, ?, ?, ?)", asked)

    def _read(self) -> None:
        if not self._file.exists():
            return
        try:
            with contextlib.closing(sqlite3.connect(self._file, timeout=2)) as store:
                for path, key, answer in store.execute(
                    "SELECT path, key, answer FROM answers WHERE tool = ?", (self._tool,)
                ):
                    self._answers[path] = (key, answer)
                for path, known, asked in store.execute(
                    "SELECT path, digest, asked FROM imports WHERE tool = ?", (self._tool,)
                ):
                    self._imports[path] = (known, [(m, level, found) for m, level, found in json.loads(asked)])
        except (sqlite3.Error, ValueError, TypeError):
            self._answers, self._imports = {}, {}
            with contextlib.suppress(OSError):
                self._file.unlink()

    def _digest(self, path: str) -> str | None:
        if path not in self._digests:
            try:
                self._digests[path] = digest(Path(path).read_bytes())
            except OSError:
                self._digests[path] = None
        return self._digests[path]

    def _key(self, path: str) -> str | None:
        """What an answer for a file depends on; None when not all of it is known, or an import is found elsewhere."""
        seen: set[str] = set()
        stack, total = [path], 0
        while stack:
            file = stack.pop()
            if file in seen:
                continue
            seen.add(file)
            if file not in self._states:
                self._states[file] = self._state(file)
            state = self._states[file]
            if state is None:
                return None
            total += state[0]
            stack.extend(state[1])
        return f"{len(seen)}-{total & _MASK:x}"

    def _state(self, file: str) -> tuple[int, tuple[str, ...]] | None:
        """A number for a file's name and content, and the files that it imports; None when that is out of date."""
        known = self._digest(file)
        entry = self._new_imports.get(file) or self._imports.get(file)
        if known is None or (entry is not None and entry[0] != known):
            return None
        folder, files = os.path.dirname(file), []
        for module, level, found in entry[1] if entry is not None else ():
            now = self._project.resolved(folder, module, level)
            if (None if now is None else str(now)) != found:
                return None
            if found is not None:
                files.append(found)
        number = int.from_bytes(
            blake2b(f"{file}\0{known}".encode("utf-8", "surrogateescape"), digest_size=16).digest(), "big"
        )
        return number, tuple(files)


def _create(store: sqlite3.Connection) -> None:
    store.execute("CREATE TABLE IF NOT EXISTS answers (path TEXT PRIMARY KEY, tool TEXT, key TEXT, answer TEXT)")
    store.execute("CREATE TABLE IF NOT EXISTS imports (path TEXT PRIMARY KEY, tool TEXT, digest TEXT, asked TEXT)")


def asked_of(path: str, project: Project) -> dict[str, Asked]:
    """The imports of a file and of all files that it imports, as `Cache.put` takes them."""
    result: dict[str, Asked] = {}
    stack = [path]
    while stack:
        file = stack.pop()
        if file in result:
            continue
        imports = project.asked.get(file, {})
        result[file] = [(module, level, found) for (module, level), found in sorted(imports.items())]
        stack.extend(found for found in imports.values() if found is not None)
    return result
