"""Runs one proof under watch in a process forked from one that has torch loaded already."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pkgutil
import runpy
import sys
import tempfile
from pathlib import Path

import torch
import torch._dynamo  # the first optimizer that a program makes imports it, which takes seconds

import torchcaliper.rule
from torchcaliper.configuration import Settings
from torchcaliper.findings import Finding
from torchcaliper.judgement import judge
from torchcaliper.run import attach, instruments, probes
from torchcaliper.run.record import Program, Run
from torchcaliper.run.session import Session

# Imported here so that the fork server has everything loaded before the first proof.
torchcaliper.rule.all_rules()
for _, name, _ in pkgutil.iter_modules(instruments.__path__, f"{instruments.__name__}."):
    __import__(name)


def run_proof(script: str, answer: str) -> None:
    """Run a script to its end and write what was found, live and at the end, as JSON to `answer`."""
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silence, descriptor)
    torch.set_num_threads(1)
    # The program's own processes start as they do by default, not as this one did.
    multiprocessing.set_start_method(None, force=True)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.argv = [script]
        sys.path.insert(0, str(Path(script).parent))
        found: dict[object, Finding] = {}
        faults: list[str] = []

        def told(run: Run) -> None:
            for finding in judge(run, Settings(), faults):
                found[finding.identity] = finding

        run = Run(program=Program(argv=[script], cwd=folder, pid=os.getpid()))
        session = Session(run, told, lambda run: None, faults.append)
        attach.enter(session)
        instruments.install(session)
        probes.install(session)
        error: BaseException | None = None
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit:
            pass
        except BaseException as raised:
            error = raised
        session.finish("normal" if error is None else "exception", error)
        Run.from_json(run.to_json())  # the record of every proof must survive being saved
        result = {
            "findings": [
                {
                    "code": f.code,
                    "severity": int(f.severity),
                    "path": f.location and f.location.path,
                    "line": f.location and f.location.line,
                    "message": f.message.render(),
                    "fix": f.fix and f.fix.text.render(),
                    "evidence": [e.text.render() for e in f.evidence],
                }
                for f in found.values()
            ],
            "faults": faults + session.faults,
            "error": repr(error) if error is not None else None,
        }
        Path(answer).write_text(json.dumps(result))
        with contextlib.suppress(OSError):
            os.chdir("/")
