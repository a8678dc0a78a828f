"""Start the program under watch: this process becomes the program, with a bootstrap on its `PYTHONPATH`.

The pid stays, so signals, exit codes, job control and supervisors such as torchrun see the program itself. On Windows,
which has no exec, and with `--fail-on`, which needs somebody who lives longer, the program is a child: see `supervise`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torchcaliper.errors import UsageError
from torchcaliper.run import directory
from torchcaliper.run.supervise import end_as, restore_signals, supervise

BOOT = str(Path(__file__).resolve().parent / "_boot")


def launch(command: Sequence[str], *, told: Sequence[str], options: Mapping[str, Any]) -> int:
    """Become `command`, watched; `told` is the command in the user's words and `options` what the watch has to know.

    Returns only where the program has been a child, with the exit code. UsageError when it cannot be started.
    """
    reason = unwatchable(command)
    run = None
    if reason is not None:
        print(f"torchcaliper: cannot watch this program: {reason}", file=sys.stderr)
        environment = dict(os.environ)
    else:
        run = _run_directory(told, options)
        environment = watched_environment(os.environ, run, options, os.getpid())
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        if os.name != "nt" and (run is None or options.get("fail_on") is None):
            restore_signals()
            os.execve(command[0], list(command), environment)
        code = supervise(command, environment)
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror}") from None
    if run is not None and code < 0 and os.name != "nt":
        directory.RunDirectory(run).killed(signal.Signals(-code).name)
    if code == 0 and run is not None and _reached(run, options):
        return 1
    return end_as(code)


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


def _reached(run_directory: Path, options: Mapping[str, Any]) -> bool:
    """Whether a finding of the run that has ended is at or above `--fail-on`."""
    from torchcaliper.configuration import Settings
    from torchcaliper.judgement import judge

    settings = Settings.from_options(dict(options))
    records = directory.RunDirectory(run_directory).records()
    level = settings.fail_on
    return level is not None and any(f.severity >= level for record in records for f in judge(record, settings))


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
