"""Which command the words after `torchcaliper run` mean."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from torchcaliper.errors import UsageError
from torchcaliper.run.launch import interpreter_options


def command_line(kind: str | None, program: Sequence[str]) -> list[str]:
    """The command line, executable first, that starts the program without us.

    `kind` is "-m", "-c" or None, and `program` the user's words after it. UsageError when there is no such program.
    """
    python = [sys.executable, *interpreter_options(sys.orig_argv[1:])[0]]
    name = program[0]
    if kind == "-m":
        if _is_missing_module(name):
            raise UsageError(f"no module named {name!r}")
        return [*python, "-m", *program]
    if kind == "-c":
        return [*python, "-c", *program]
    if name == "-":
        return [*python, *program]
    if os.path.isfile(name):
        return [os.path.abspath(name), *program[1:]] if _starts_itself(name) else [*python, *program]
    if os.path.isfile(os.path.join(name, "__main__.py")):
        return [*python, *program]
    if not name.endswith(".py"):
        # An environment that is used without being activated has its commands beside its interpreter.
        found = shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))
        if found is not None:
            return [found, *program[1:]]
    if os.path.isdir(name):
        raise UsageError(f"{name} is a directory without a __main__.py")
    raise UsageError(f"no such script or command: {name}")


def _starts_itself(file: str) -> bool:
    """Whether the file is a program of its own (a shell script, .venv/bin/torchrun) rather than one for our Python."""
    suffix = os.path.splitext(file)[1].lower()
    if suffix in (".py", ".pyw", ".pyc", ".pyz"):
        return False
    if os.name == "nt":
        return suffix in (".exe", ".cmd", ".bat")
    try:
        with open(file, "rb") as stream:
            start = stream.read(4)
    except OSError:
        return False
    # A shebang, ELF, Mach-O (thin, universal).
    magic = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
    return os.access(file, os.X_OK) and start.startswith(magic)


def _is_missing_module(name: str) -> bool:
    """Whether `python -m name` would find nothing, asked without importing (and so running) any parent package."""
    top, *children = name.split(".")
    # `-m` looks in the working directory first, but an installed `torchcaliper` script has its own folder there.
    plain_path = sys.path.copy()
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    finally:
        sys.path[:] = plain_path
    for depth, child in enumerate(children, start=1):
        if spec is None or spec.submodule_search_locations is None:
            return True
        if _sets_its_path(spec):
            return False
        parent = ".".join([top, *children[: depth - 1]])
        spec = importlib.machinery.PathFinder.find_spec(f"{parent}.{child}", list(spec.submodule_search_locations))
    return spec is None


def _sets_its_path(spec: importlib.machinery.ModuleSpec) -> bool:
    """Whether only running the package tells where its modules are."""
    try:
        return b"__path__" in Path(spec.origin or "").read_bytes()
    except OSError:
        return False
