"""The files of a project and how one imports another."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from torchcaliper.source.file import SourceFile, read
from torchcaliper.source.text import Unreadable

if TYPE_CHECKING:
    from torchcaliper.source.scope import Scope

#: files larger than this are data in the dress of Python; they are read when named, not when imported
_MAX_IMPORTED = 2_000_000
#: how many folders above a file an absolute import is looked for
_MAX_ABOVE = 8
#: never files of a project, however a folder beside the script is called
_OUTSIDE = frozenset({"torch", "numpy", "torchvision", "torchaudio", "transformers", "sklearn", "tqdm", "os", "sys"})
#: files that mark the folder of a project; nothing above it is imported
_ROOT = frozenset({"pyproject.toml", "setup.py", ".git"})


class Project:
    """Finds and keeps the files that others import.

    `asked` has, for each file, the imports that were looked for and the file that each was found to be: with the
    contents of these files it says when an answer is out of date.
    """

    def __init__(self, shown: dict[Path, str] | None = None) -> None:
        self._files: dict[Path, SourceFile | None] = {}
        self._shown = shown or {}
        self._found: dict[tuple[str, str, int], Path | None] = {}
        self._above: dict[str, tuple[str, ...]] = {}
        self._listed: dict[str, frozenset[str]] = {}
        self.paths: dict[int, Path] = {}
        #: module-level names of files, as far as they have been followed
        self.scopes: dict[int, Scope] = {}
        self.asked: dict[str, dict[tuple[str, int], str | None]] = {}

    def add(self, path: Path, file: SourceFile) -> None:
        """Take a file that has been read."""
        self._files[path] = file
        self.paths[id(file)] = path

    def imported(self, importer: SourceFile, module: str, level: int) -> SourceFile | None:
        """The file that `module` names in an import of `importer`; None when it is not of the project.

        Absolute names are looked for beside the importer and in each folder above it up to the one that holds the
        project, as scripts, packages and `src` layouts have it.
        """
        if not level and module.partition(".")[0] in _OUTSIDE:
            return None
        start = self.paths.get(id(importer))
        if start is None:
            return None
        path = self.resolved(os.path.dirname(start), module, level)
        self.asked.setdefault(str(start), {})[module, level] = None if path is None else str(path)
        return None if path is None else self.file(path)

    def resolved(self, folder: str, module: str, level: int) -> Path | None:
        """The file that an import in a file of `folder` stands for; None when it is not of the project."""
        key = (folder, module, level)
        if key not in self._found:
            found = self._find(folder, module, level)
            self._found[key] = None if found is None else Path(found)
        return self._found[key]

    def file(self, path: Path) -> SourceFile | None:
        """A file of the project, read on first use; None when it cannot be read."""
        if path not in self._files:
            self._files[path] = None
            try:
                if path.stat().st_size <= _MAX_IMPORTED:
                    file = read(path, self._shown.get(path, str(path)))
                    self._files[path] = file
                    self.paths[id(file)] = path
            except (Unreadable, OSError):
                pass
        return self._files[path]

    def _find(self, folder: str, module: str, level: int) -> str | None:
        parts = [part for part in module.split(".") if part]
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._at(folder, parts)
        if not parts:
            return None
        for candidate in self._folders(folder):
            found = self._at(candidate, parts)
            if found is None and "src" in self._names(candidate):
                found = self._at(os.path.join(candidate, "src"), parts)
            if found is not None:
                return found
        return None

    def _folders(self, folder: str) -> tuple[str, ...]:
        """The folder and those above it, up to the project's own."""
        known = self._above.get(folder)
        if known is None:
            chain, current = [folder], folder
            while len(chain) < _MAX_ABOVE and not self._names(current) & _ROOT and os.path.dirname(current) != current:
                current = os.path.dirname(current)
                chain.append(current)
            known = self._above[folder] = tuple(chain)
        return known

    def _at(self, folder: str, parts: list[str]) -> str | None:
        for part in parts[:-1]:
            if part not in self._names(folder):
                return None
            folder = os.path.join(folder, part)
        names = self._names(folder)
        if not parts:
            return os.path.join(folder, "__init__.py") if "__init__.py" in names else None
        if parts[-1] in names:
            inner = os.path.join(folder, parts[-1])
            if "__init__.py" in self._names(inner):
                return os.path.join(inner, "__init__.py")
        if f"{parts[-1]}.py" in names:
            return os.path.join(folder, f"{parts[-1]}.py")
        return None

    def _names(self, folder: str) -> frozenset[str]:
        """What a folder holds; nothing where it is none."""
        known = self._listed.get(folder)
        if known is None:
            try:
                known = frozenset(os.listdir(folder))
            except OSError:
                known = frozenset()
            self._listed[folder] = known
        return known


_TORCH = re.compile(rb"\btorch\b|\blightning\b|\baccelerate\b")


def mentions_torch(content: bytes) -> bool:
    """Whether a file is worth parsing at all."""
    return _TORCH.search(content) is not None
