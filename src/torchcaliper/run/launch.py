"""Start the program under watch: this process becomes the program, with a bootstrap on its `PYTHONPATH`.

The pid stays, so signals, exit codes, job control and supervisors such as torchrun see the program itself. Windows has
no exec: there a child runs in the same console and this process hands on its exit code.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torchcaliper.errors import UsageError
from torchcaliper.run import directory

BOOT = str(Path(__file__).resolve().parent / "_boot")


def launch(command: Sequence[str], *, told: Sequence[str], options: Mapping[str, Any]) -> int:
    """Become `command`, watched; `told` is the command in the user's words and `options` what the watch has to know.

    Returns only on Windows, with the program's exit code. UsageError when the command cannot be started.
    """
    reason = unwatchable(command)
    if reason is not None:
        print(f"torchcaliper: cannot watch this program: {reason}", file=sys.stderr)
        environment = dict(os.environ)
    else:
        environment = watched_environment(os.environ, _run_directory(told, options), options, os.getpid())
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        if os.name == "nt":
            environment["TORCHCALIPER_ROOT_PID"] = ""
            return supervise(command, environment)
        os.execve(command[0], list(command), environment)
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror}") from None


def watched_environment(
    environ: Mapping[str, str], run_directory: Path, options: Mapping[str, Any], root_pid: int
) -> dict[str, str]:
    """`environ` with everything in it that makes the program and its children watched."""
    # Under `torchcaliper run torchrun -m torchcaliper run t.py` the bootstrap is there already.
    theirs = environ.get("PYTHONPATH", "").split(os.pathsep)
    # An empty PYTHONPATH is none, but an empty entry in a longer one is the working directory.
    path = [BOOT, *(entry for entry in theirs if entry != BOOT)] if theirs != [""] else [BOOT]
    return {
        **environ,
        "PYTHONPATH": os.pathsep.join(path),
        "TORCHCALIPER_RUN": str(run_directory),
        "TORCHCALIPER_OPTIONS": json.dumps(dict(options)),
        "TORCHCALIPER_ROOT_PID": str(root_pid),
    }


def interpreter_options(words: Sequence[str]) -> tuple[list[str], str]:
    """The interpreter's options at the beginning of its arguments, as they were written, and their letters.

    `["-X", "dev", "-um", "torchcaliper", "run"]` gives `["-X", "dev", "-u"]` and `"Xu"`.
    """
    options: list[str] = []
    letters = ""
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word.startswith("--"):
            options.append(word)
            if word == "--check-hash-based-pycs":
                options += rest[:1]
                rest = rest[1:]
            continue
        # One letter each, up to one that takes the remainder of the word or the next word.
        match = re.match(r"-([^cmWX]*)([cmWX]?)(.*)", word, re.DOTALL)
        assert match is not None
        plain, last, value = match.groups()
        letters += plain
        if last in ("c", "m"):
            return [*options, f"-{plain}"] if plain else options, letters
        letters += last
        options.append(word)
        if last and not value:
            options += rest[:1]
            rest = rest[1:]
    return options, letters


def unwatchable(command: Sequence[str]) -> str | None:
    """Why this command will not find the bootstrap, as far as its options tell."""
    if not re.fullmatch(r"python[\d.]*[tw]*(\.exe)?", os.path.basename(command[0]).lower()):
        return None
    _, letters = interpreter_options(command[1:])
    for letter in letters:
        if letter in "IE":
            return f"python -{letter} ignores PYTHONPATH, through which the watch gets in"
        if letter == "S":
            return "python -S does not import site, through which the watch gets in"
    return None


def supervise(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run `command` as a child in this console and return its exit code.

    Ctrl-C reaches both; the child decides what it means, so this process waits on.
    """
    child = subprocess.Popen(list(command), env=dict(environment))
    while True:
        try:
            code = child.wait()
            break
        except KeyboardInterrupt:
            continue
    # Windows codes are unsigned (0xC000013A after Ctrl-C), and sys.exit takes a signed one of 32 bits.
    return code - 2**32 if code >= 2**31 else code


def _run_directory(told: Sequence[str], options: Mapping[str, Any]) -> Path:
    try:
        run = directory.create(os.getcwd(), told, options)
    except OSError as error:
        # A read-only working directory is no reason not to train.
        elsewhere = tempfile.mkdtemp(prefix="torchcaliper-")
        print(f"torchcaliper: {error.filename}: {error.strerror}; keeping the run in {elsewhere}", file=sys.stderr)
        return directory.create(elsewhere, told, options).path
    directory.prune(os.getcwd())
    return run.path
