"""The closing words of a run whose first process never imported torch.

It may still have started others that did (`subprocess.run([sys.executable, "train.py"])`): their records are judged
here. Called at the exit of the first process, from the bootstrap.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from torchcaliper.configuration import Settings
from torchcaliper.judgement import judge, merge
from torchcaliper.report import console
from torchcaliper.report import json as json_report
from torchcaliper.report.summary import RunSummary
from torchcaliper.report.terminal import shows_colour, width_of
from torchcaliper.run.directory import RunDirectory

NOTHING = "torchcaliper: torch was never imported: nothing to watch"


def report(directory: str) -> None:
    """Write what `--format`, `--output` and `--quiet` ask for, about the run in `directory`."""
    options = json.loads(os.environ.get("TORCHCALIPER_OPTIONS") or "{}")
    settings = Settings.from_options(options)
    run = RunDirectory(Path(directory))
    cwd = str(run.about.get("cwd") or os.getcwd())
    records = run.records()
    findings = merge(finding for record in records for finding in judge(record, settings))
    summary = RunSummary.of(records) if records else RunSummary(processes=0, torch_seen=False)
    output, width, colour = options.get("output"), width_of(sys.stderr), shows_colour(sys.stderr)
    if options.get("format") == "json":
        text = json.dumps(json_report.document(findings, "run", summary, cwd), indent=1) + "\n"
    elif records:
        text = console.render(findings, summary, cwd, width, colour and output is None, advice=settings.advice)
    else:
        text = NOTHING + "\n"
    if output is not None:
        Path(output).write_text(text, encoding="utf-8", errors="backslashreplace")
    elif options.get("format") == "json":
        sys.stderr.write(text)
        return
    if findings or not options.get("quiet"):
        closing = console.render_summary(findings, summary, settings.advice, width, colour, cwd=cwd)
        sys.stderr.write(closing if records else NOTHING + "\n")
