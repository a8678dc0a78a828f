"""`torchcaliper.watch()`: the same findings inside a notebook, a test or a program of one's own."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from torchcaliper.configuration import Settings, read_settings
from torchcaliper.findings import Finding
from torchcaliper.judgement import judge
from torchcaliper.report import console
from torchcaliper.report.summary import RunSummary
from torchcaliper.run import attach, instruments, probes
from torchcaliper.run.instruments.origins import Origins
from torchcaliper.run.record import Program, Run
from torchcaliper.run.session import Session


class Watched:
    """What a `watch()` block has seen so far."""

    def __init__(self, session: Session, settings: Settings) -> None:
        self._session = session
        self._settings = settings

    @property
    def record(self) -> Run:
        """The record as it stands (plain data, see `torchcaliper.run.record`)."""
        if not self._session.over:
            self._session.refresh()
        return self._session.run

    @property
    def findings(self) -> list[Finding]:
        """The findings as they stand, the worst first. What needs the end of the run is known after the block."""
        return judge(self.record, self._settings)

    def __str__(self) -> str:
        run = self.record
        summary = RunSummary.of([run])
        return console.render(self.findings, summary, os.getcwd(), 100, False, advice=self._settings.advice)


@contextmanager
def watch(*, select: str | None = None, ignore: str | None = None, advice: bool = False) -> Iterator[Watched]:
    """Watch what the program does inside the block.

    `select` and `ignore` are comma lists of codes or prefixes; `[tool.torchcaliper]` of the nearest pyproject.toml
    applies as on the command line. Functions imported by name before the block (`from torch.nn.utils import
    clip_grad_norm_`) are not seen; methods are. Blocks do not nest; under `torchcaliper run` the block shows what that
    watch has seen. Raises UsageError for unknown codes.
    """
    settings = read_settings(Path.cwd()).overridden(select=select, ignore=ignore, advice=advice)
    running = attach.current()
    if running is not None:
        yield Watched(running, settings)
        return
    program = Program(
        argv=list(sys.argv),
        cwd=os.getcwd(),
        pid=os.getpid(),
        started=time.time(),
        python=platform.python_version(),
        torch=str(torch.__version__),
    )
    session = Session(Run(program=program), lambda run: False, lambda run: None, _say)
    attach.enter(session)
    try:
        instruments.install(session)
        origins = session.instrument("origins")
        if isinstance(origins, Origins):
            origins.marking = True
        probes.install(session)
        yield Watched(session, settings)
    except BaseException as error:
        session.finish("interrupted" if isinstance(error, KeyboardInterrupt) else "exception", error)
        raise
    finally:
        session.finish("normal")
        session.lift()
        attach.leave()


def _say(text: str, *, minor: bool = False) -> None:
    print(text, file=sys.stderr)
