"""The files of a project and how one imports another."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from torchcaliper.source.file import SourceFile, read
from torchcaliper.source.text import Unreadable

if TYPE_CHECKING:
    from torchcaliper.source.scope import Scope

#: files larger than this are data in the dress of Python; they are read when named, not when imported
_MAX_IMPORTED = 2_000_000


class Project:
    """Finds and keeps the files that others import. `consulted` lists every file that an answer depended on."""

    def __init__(self, shown: dict[Path, str] | None = None) -> None:
        self._files: dict[Path, SourceFile | None] = {}
        self._shown = shown or {}
        self._found: dict[tuple[Path, str], Path | None] = {}
        self._exists: dict[Path, bool] = {}
        self.paths: dict[int, Path] = {}
        #: module-level names of files, as far as they have been followed
        self.scopes: dict[int, Scope] = {}
        self.consulted: set[Path] = set()

    def add(self, path: Path, file: SourceFile) -> None:
        """Take a file that has been read."""
        self._files[path] = file
        self.paths[id(file)] = path

    def imported(self, importer: SourceFile, module: str, level: int) -> SourceFile | None:
        """The file that `module` names in an import of `importer`; None when it is not of the project.

        Absolute names are looked for beside the importer and in each folder above it up to the one that holds the
        project, as scripts, packages and `src` layouts have it.
        """
        start = self.paths.get(id(importer))
        if start is None:
            return None
        folder = start.parent
        key = (folder, "." * level + module)
        if key not in self._found:
            self._found[key] = self._find(folder, module, level)
        path = self._found[key]
        return None if path is None else self.file(path)

    def file(self, path: Path) -> SourceFile | None:
        """A file of the project, read on first use; None when it cannot be read."""
        self.consulted.add(path)
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

    def _find(self, folder: Path, module: str, level: int) -> Path | None:
        parts = [part for part in module.split(".") if part]
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            return self._at(folder, parts)
        if not parts or parts[0] in _OUTSIDE:
            return None
        # Upward, while the folders are packages, and one further: where `python -m` would be started.
        for candidate in (folder, *list(folder.parents)[:8]):
            found = self._at(candidate, parts) or self._at(candidate / "src", parts)
            if found is not None:
                return found
            if self._is_file(candidate / "pyproject.toml") or self._is_file(candidate / "setup.py"):
                break
            if self._is_file(candidate / ".git" / "HEAD"):
                break
        return None

    def _at(self, folder: Path, parts: list[str]) -> Path | None:
        base = folder.joinpath(*parts)
        for candidate in (base.with_name(base.name + ".py") if parts else base / "__init__.py", base / "__init__.py"):
            if self._is_file(candidate):
                return candidate
        return None

    def _is_file(self, path: Path) -> bool:
        if path not in self._exists:
            self._exists[path] = path.is_file()
        return self._exists[path]


#: never files of a project, however a folder beside the script is called
_OUTSIDE = frozenset({"torch", "numpy", "torchvision", "torchaudio", "transformers", "sklearn", "tqdm", "os", "sys"})

_TORCH = re.compile(rb"\btorch\b|\blightning\b|\baccelerate\b")


def mentions_torch(content: bytes) -> bool:
    """Whether a file is worth parsing at all."""
    return _TORCH.search(content) is not None
