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
        self._new: dict[str, tuple[str, str]] = {}
        self._new_imports: dict[str, tuple[str, Asked]] = {}
        self._project = Project()
        self._digests: dict[str, str | None] = {}
        self._read()

    def get(self, path: str, content: bytes) -> Answer | None:
        """The answer for a file with this content; None when there is none that holds."""
        self._digests[path] = digest(content)
        stored = self._answers.get(path)
        if stored is None or self._key(path, self._imports) != stored[0]:
            return None
        try:
            return unpacked(json.loads(stored[1]))
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, path: str, data: dict[str, Any], asked: dict[str, Asked]) -> None:
        """Take an answer (packed) and the imports of the files that it depends on."""
        for file, imports in asked.items():
            known = self._digest(file)
            if known is not None:
                self._new_imports[file] = (known, imports)
        # A file that imports nothing of the project is one, too.
        self._new_imports.setdefault(path, (self._digest(path) or "", []))
        key = self._key(path, {**self._imports, **self._new_imports})
        if key is not None:
            self._new[path] = (key, json.dumps(data))

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
                rows = [(path, self._tool, key, answer) for path, (key, answer) in self._new.items()]
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

    def _key(self, path: str, imports: dict[str, tuple[str, Asked]]) -> str | None:
        """What an answer for a file depends on; None when not all of it is known, or an import is found elsewhere."""
        seen: dict[str, str] = {}
        stack = [path]
        while stack:
            file = stack.pop()
            if file in seen:
                continue
            known = self._digest(file)
            if known is None:
                return None
            seen[file] = known
            entry = imports.get(file)
            if entry is None:
                continue
            if entry[0] != known:
                return None
            folder = os.path.dirname(file)
            for module, level, found in entry[1]:
                now = self._project.resolved(folder, module, level)
                if (None if now is None else str(now)) != found:
                    return None
                if found is not None:
                    stack.append(found)
        state = blake2b(digest_size=16)
        for file in sorted(seen):
            state.update(f"{file}\0{seen[file]}\0".encode())
        return state.hexdigest()


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
