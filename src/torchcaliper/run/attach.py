"""Attaching the watch to a program that `torchcaliper run` has started, once it has imported torch."""

from __future__ import annotations

import atexit
import functools
import json
import os
import platform
import sys
import time
from multiprocessing import util
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer

from torchcaliper.run import instruments, probes
from torchcaliper.run.patches import Local, Patches, invisible, trim
from torchcaliper.run.record import Program, Run
from torchcaliper.run.session import Session
from torchcaliper.run.telling import Telling

_current: Session | None = None


def current() -> Session | None:
    """The session of this process, if it is watched."""
    return _current


def enter(session: Session) -> None:
    """Make a `watch()` block's session the current one."""
    global _current
    _current = session


def leave() -> None:
    """A `watch()` block has ended."""
    global _current
    _current = None


def install() -> None:
    """Watch this process. Called by the bootstrap right after `import torch`."""
    directory = os.environ.get("TORCHCALIPER_RUN")
    if directory is None or _current is not None:
        return
    attached = _Attached(Path(directory))
    atexit.register(attached.finish)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=attached.forked)
    util.register_after_fork(attached, _Attached.in_process)


def _rank() -> int | None:
    text = os.environ.get("RANK", "")
    return int(text) if text.isdigit() else None


class _Attached:
    """The watch on this process, and what becomes of it in a forked child."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._start()

    def _start(self) -> None:
        global _current
        self._pid = os.getpid()
        root = os.environ.get("TORCHCALIPER_ROOT_PID") == str(self._pid)
        about = json.loads(os.environ.get("TORCHCALIPER_OPTIONS") or "{}")
        program = Program(
            argv=list(sys.orig_argv),
            cwd=os.getcwd(),
            pid=self._pid,
            started=time.time(),
            python=platform.python_version(),
            torch=str(torch.__version__),
            rank=_rank(),
        )
        self._telling = Telling(self._directory, about, root=root, rank=program.rank)
        self.session = Session(
            Run(program=program), self._telling.judged, self._telling.saved, self._telling.say, about.get("overhead")
        )
        instruments.install(self.session)
        if root and about.get("look") is not None:
            from torchcaliper.run.instruments.look_at_step import LookAtStep

            self.session.add(LookAtStep(self.session, about["look"], self._telling.look))
        probes.install(self.session)
        _current = self.session
        if root and about.get("output"):
            self.session.save()

    def finish(self) -> None:
        """The process ends."""
        if os.getpid() != self._pid or self.session.over:
            return
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        kind = "normal" if error is None else "interrupted" if isinstance(error, KeyboardInterrupt) else "exception"
        self._close(kind, error)

    def _close(self, kind: str, error: BaseException | None) -> None:
        try:
            self.session.finish(kind, error)
            self._telling.close(self.session.run, self.session.faults)
        except KeyboardInterrupt:
            pass  # somebody does not want to wait for the summary; the program itself is over
        except Exception as own:
            self._telling.say(f"torchcaliper: no summary ({type(own).__name__}: {own})")

    # forked children

    def forked(self) -> None:
        """In a forked child: take the watch off until it trains. Most children are loader workers and never do."""
        global _current
        _current = None
        self.session.lift()
        self._telling.forsake()
        sleeping = Patches(Local(), lambda name, error: None)
        for owner, name in ((torch.autograd, "backward"), (Optimizer, "__init__")):
            sleeping.replace(owner, name, self._waker(sleeping, owner, name))

    def _waker(self, sleeping: Patches, owner: Any, name: str) -> Any:
        original = vars(owner)[name]

        @functools.wraps(original)
        def wake(*args: Any, **kwargs: Any) -> Any:
            call = original
            if self._pid != os.getpid():
                mine = vars(owner)[name] is watched
                self._wake(sleeping)
                # Somebody who has put a function of his own before this one has already been called.
                call = getattr(owner, name) if mine else original
            try:
                return call(*args, **kwargs)
            except BaseException as error:
                trim(error)
                raise

        watched = invisible(wake)  # type: ignore[arg-type]
        return watched

    def _wake(self, sleeping: Patches) -> None:
        sleeping.lift()
        try:
            self._start()
        except Exception as error:
            self._pid = os.getpid()
            self._telling.say(
                f"torchcaliper: could not attach to process {self._pid} ({type(error).__name__}: {error})"
            )

    def in_process(self) -> None:
        """A `multiprocessing.Process` begins here: it leaves by `os._exit`, and runs these instead of atexit."""
        util.Finalize(None, self._finish_child, exitpriority=-100)

    def _finish_child(self) -> None:
        if not self.session.over:
            self._close("exception" if self.session.run.failures else "normal", None)
