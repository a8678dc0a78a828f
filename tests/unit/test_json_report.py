"""The JSON contract."""

from __future__ import annotations

import json
import os

from torchcaliper.findings import Edit, Evidence, Finding, Fix, Location, Severity, Text
from torchcaliper.report.json import document
from torchcaliper.report.summary import RunSummary
from torchcaliper.version import __version__

CWD = os.path.abspath(os.path.join(os.sep, "project"))
TRAIN = os.path.join(CWD, "train.py")
OTHER = os.path.join(os.path.abspath(os.sep), "other", "model.py")


def test_every_field() -> None:
    finding = Finding(
        "A103",
        "gradients-never-cleared",
        Severity.ERROR,
        Text("{n} steps", {"n": 40}),
        Location(TRAIN, 30, 4),
        (Evidence(Text("here"), Location(OTHER, 31)), Evidence(Text("norm"))),
        Fix(Text("type this"), (Edit(TRAIN, 30, 0, 30, 0, "optimizer.zero_grad()\n"),)),
        1240,
        0,
    )
    advice = Finding("D109", "float64-data", Severity.ADVICE, Text("Twice the memory."))
    summary = RunSummary(1240, 3.5, 0.012, "exception", 2, deep_steps=9)
    result = document([finding, advice], "run", summary, CWD)
    assert json.loads(json.dumps(result)) == result
    assert result == {
        "schema": 1,
        "tool": {"name": "torchcaliper", "version": __version__},
        "subject": "run",
        "findings": [
            {
                "code": "A103",
                "name": "gradients-never-cleared",
                "severity": "error",
                "message": "40 steps",
                "path": "train.py",
                "line": 30,
                "column": 4,
                "evidence": [
                    {"text": "here", "path": OTHER, "line": 31},
                    {"text": "norm", "path": None, "line": None},
                ],
                "fix": {
                    "text": "type this",
                    "edits": [
                        {
                            "path": "train.py",
                            "start_line": 30,
                            "start_column": 0,
                            "end_line": 30,
                            "end_column": 0,
                            "replacement": "optimizer.zero_grad()\n",
                        }
                    ],
                },
                "count": 1240,
                "first_step": 0,
            },
            {
                "code": "D109",
                "name": "float64-data",
                "severity": "advice",
                "message": "Twice the memory.",
                "path": None,
                "line": None,
                "column": 0,
                "evidence": [],
                "fix": None,
                "count": 1,
                "first_step": None,
            },
        ],
        "summary": {
            "errors": 1,
            "warnings": 0,
            "advice": 1,
            "steps": 1240,
            "seconds": 3.5,
            "overhead": 0.012,
            "deep_steps": 9,
            "ending": "exception",
            "processes": 2,
        },
    }


def test_a_template_that_does_not_fit_is_shown_as_it_is() -> None:
    result = document([Finding("A103", "name", Severity.ERROR, Text("{missing}"))], "run", RunSummary(), CWD)
    assert result["findings"][0]["message"] == "{missing}"
