"""Torchcaliper and its peers over a folder of cases: what each catches, locates and cries wolf at.

    python benchmarks/peers.py CASES                       # all cases, the peers that install quickly
    python benchmarks/peers.py CASES --only softmax        # cases whose name holds this
    python benchmarks/peers.py CASES --peers torchtest2,anomaly

CASES holds folders with `case.toml` (`expect`: codes of our catalogue, `lines`: right lines), `faulty.py` and
`sound.py`. The script makes an environment for each peer under `--environments` (default `.peers`), which sees this
interpreter's packages, so that torch is not installed again.

How it is measured. No script is edited. Static peers get the file. The others get what their README asks a user to
write: a prelude catches the first model that is trained, its inputs, its loss and its optimizer, and hands these over
as that user would have. A peer catches a case when, in `faulty.py`, it reports a check that stands for one of the
expected codes (`STANDS_FOR`, from the peers' own documentation) and does not report the same in `sound.py`. It has
located the case when the report names a right line. False alarms are findings at warning level or above in sound
scripts. The cost is the median ratio of CPU time to plain Python, of whole sound scripts: start-up included, which
weighs heavily in scripts of a few seconds (benchmarks/overhead.py has the cost of a step).

TrainCheck is not among the peers: it needs a reference run, four commands and minutes for each script.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: what is installed for each peer
PACKAGES = {
    "torchcaliper": [],
    "torch-preflight": ["torch-preflight==0.5.0"],
    "torch-audit": ["torch-audit==0.3.0"],
    "torchtest2": ["torchtest2==0.1.0"],
    "torcheck": ["torcheck==1.0.1"],
    "anomaly": [],
}
#: a peer's check -> codes of ours that it stands for
STANDS_FOR: dict[str, tuple[str, ...]] = {
    "TG001": ("A105",),
    "TG002": ("A107",),
    "TG003": ("A103",),
    "TG005": ("L101", "L103"),
    "TG006": ("L102", "L103"),
    "TG011": ("M115", "M116"),
    "TG012": ("R101", "R102"),
    "TA100": ("A110", "L105", "L113"),
    "TA102": ("A111", "O110"),
    "TA103": ("M113", "M104"),
    "TA104": ("A101", "A102"),
    "TA105": ("M113",),
    "TA402": ("O114",),
    "TA500": ("M104",),
    "TA301": ("D107",),
    "optimizer_coverage": ("O101", "O102", "M101", "M102"),
    "gradient_flow": ("A101", "A102", "M104", "M113"),
    "gradient_magnitude": ("A111", "A110", "O110"),
    "params_change": ("O103", "O111", "O101", "M104"),
    "batch_independence": ("M107", "M108", "M109"),
    "eval_determinism": ("M106",),
    "initial_loss": ("L107",),
    "loss": ("A110", "L105", "L103", "L104"),
    "output_finite": ("A110",),
    "torcheck: unchanged": ("O103", "O111", "O101", "O102", "M104", "A101"),
    "torcheck: not finite": ("A110", "L105", "L113"),
    "anomaly": ("A110", "A109", "L105", "L113", "P105"),
}
_LIMIT = 300  # seconds for a script


@dataclass
class Said:
    """What a tool said of one script."""

    checks: list[tuple[str, int]] = field(default_factory=list)  # check or code, line (0: none)
    cpu: float = 0.0


# The prelude: runs in the peer's environment, in the place of the script.


@dataclass
class Caught:
    """What a user would have had at hand."""

    model: Any = None
    inputs: tuple[Any, ...] = ()
    loss: Callable[[Any, Any], Any] | None = None
    target: Any = None
    optimizer: Any = None


def act(peer: str, script: str, answer: str) -> None:
    """Run a script with a peer in the loop, and write down what the peer said."""
    import runpy

    import torch
    from torch import nn
    from torch.nn import functional as F

    caught, said = Caught(), []
    sys.argv = [script]
    sys.path[0] = str(Path(script).parent)
    begin: Callable[[], None] = lambda: None  # noqa: E731
    finish: Callable[[], None] = lambda: None  # noqa: E731
    if peer == "anomaly":
        torch.autograd.set_detect_anomaly(True)
    elif peer == "torch-audit":
        begin, finish = _torch_audit(caught, said)
    elif peer == "torcheck":
        begin = _torcheck(caught)
    elif peer == "torchtest2":
        finish = _torchtest2(caught, said)

    call, made = nn.Module.__call__, torch.optim.Optimizer.__init__
    started = False

    def __call__(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        nonlocal started
        trained = torch.is_grad_enabled() and next(self.parameters(), None) is not None
        if caught.model is None and trained and not kwargs:
            caught.model, caught.inputs = self, args
        if not started and caught.model is not None and caught.optimizer is not None:
            started = True
            begin()
        return call(self, *args, **kwargs)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        caught.optimizer = caught.optimizer or self

    nn.Module.__call__, torch.optim.Optimizer.__init__ = __call__, __init__  # type: ignore[method-assign]
    for name in [n for n in dir(F) if n.endswith("_loss") or n in ("cross_entropy", "kl_div")]:
        _catch_loss(F, name, caught)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
    except BaseException as error:
        said.append((_failure(peer, str(error)), 0))
    try:
        finish()
    except Exception as error:
        print(f"{peer}: {type(error).__name__}: {error}", file=sys.stderr)
    Path(answer).write_text(json.dumps(said), encoding="utf-8")


def _catch_loss(functions: Any, name: str, caught: Caught) -> None:
    original = getattr(functions, name)
    if not callable(original) or name.startswith("_"):
        return

    def loss(*args: Any, **kwargs: Any) -> Any:
        if caught.loss is None and len(args) > 1:
            caught.loss, caught.target = (lambda out, target: original(out, target, *args[2:], **kwargs)), args[1]
        return original(*args, **kwargs)

    setattr(functions, name, loss)


def _failure(peer: str, text: str) -> str:
    if peer == "anomaly" and ("nan values" in text or "modified by an inplace" in text):
        return "anomaly"
    if peer == "torcheck":
        return "torcheck: not finite" if "NaN" in text or "inf" in text else "torcheck: unchanged"
    return f"raised: {text[:60]}"


def _torch_audit(caught: Caught, said: list[Any]) -> tuple[Callable[[], None], Callable[[], None]]:
    from torch_audit import autopatch

    auditors: list[Any] = []

    def begin() -> None:
        auditors.append(autopatch(caught.model, optimizer=caught.optimizer, every_n_steps=1, reporters=[]))

    def finish() -> None:
        for auditor in auditors:
            found = auditor.findings() if callable(auditor.findings) else auditor.findings
            loud = {
                f.rule_id for f in found if str(f.severity).rsplit(".", 1)[-1] in ("WARN", "WARNING", "ERROR", "FATAL")
            }
            said.extend((rule, 0) for rule in sorted(loud))

    return begin, finish


def _torcheck(caught: Caught) -> Callable[[], None]:
    def begin() -> None:
        import torcheck

        torcheck.register(caught.optimizer)
        torcheck.add_module(caught.model, changing=True, check_nan=True, check_inf=True)

    return begin


def _torchtest2(caught: Caught, said: list[Any]) -> Callable[[], None]:
    def finish() -> None:
        from torchtest2 import check_model

        if caught.model is None:
            return
        report = check_model(
            caught.model,
            caught.inputs,
            caught.target,
            loss_fn=caught.loss,
            optimizer=caught.optimizer,
            overfit_steps=50,
        )
        for result in report.results:
            if str(result).split()[0] in ("WARN", "FAIL", "ERROR"):
                said.append((str(result).split()[1], 0))

    return finish


# The comparison.


def environment(peer: str, folder: Path) -> Path:
    """The interpreter of the peer's own environment, made on first use."""
    if not PACKAGES[peer]:
        return Path(sys.executable)
    python = folder / peer / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(folder / peer, with_pip=True)
        purelib = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        Path(purelib, "outer.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[peer]], check=True)
    return python


def run(peer: str, python: Path, script: Path) -> Said:
    """Have a tool look at a script, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        # All see the same name, so that none learns from it which of the two it is.
        copy = Path(folder, "train.py")
        shutil.copytree(script.parent, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("case.toml", "*.pyc"))
        shutil.copy(script, copy)
        answer = Path(folder, "answer.json")
        command: list[str | Path]
        if peer == "torch-preflight":
            command = [python, "-m", "torch_preflight", "check", "--format", "json", str(copy)]
        elif peer == "torchcaliper":
            command = [python, "-m", "torchcaliper", "run", "--format", "json", "--output", answer, copy.name]
        elif peer == "plain":
            command = [python, copy.name]
        else:
            command = [python, Path(__file__).resolve(), "--act", peer, str(copy), str(answer)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            outcome = subprocess.run(
                command,
                cwd=folder,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
                timeout=_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return Said([("no answer in time", 0)])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = Said(cpu=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if peer == "torch-preflight":
            found = json.loads(outcome.stdout or "{}").get("diagnostics", [])
            said.checks = [(f["code"], f["line"]) for f in found if f["severity"] in ("warning", "error")]
        elif peer == "torchcaliper" and answer.exists():
            found = json.loads(answer.read_text(encoding="utf-8"))["findings"]
            # Where a case is filed as advice, advice counts; it is no false alarm elsewhere.
            said.checks = [(f["code"] + "?" * (f["severity"] == "advice"), f["line"] or 0) for f in found]
        elif answer.exists():
            said.checks = [(name, line) for name, line in json.loads(answer.read_text(encoding="utf-8"))]
        return said


def statement_lines(source: str, lines: list[int]) -> set[int]:
    """All lines of the statements that the right lines belong to."""
    import ast

    whole = set(lines)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            span = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            if span & set(lines):
                whole |= span
    return whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--peers", default=",".join(PACKAGES), help="default: %(default)s")
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--results", type=Path, default=Path("peers.json"), help="kept there; a rerun goes on")
    args = parser.parse_args()
    peers = args.peers.split(",")
    for peer in peers:
        if peer not in PACKAGES:
            parser.error(f"no such peer: {peer}")
    cases = sorted(f.parent for f in args.cases.glob("*/case.toml") if args.only in f.parent.name)
    if not cases:
        parser.error(f"no cases in {args.cases}")
    done: dict[str, Any] = json.loads(args.results.read_text(encoding="utf-8")) if args.results.exists() else {}
    for case in cases:
        for tool in ["plain", *peers]:
            python = Path(sys.executable) if tool == "plain" else environment(tool, args.environments)
            for script in ("faulty", "sound"):
                key = f"{case.name}/{script}/{tool}"
                file = case / f"{script}.py"
                if key in done or not file.exists() or (tool == "plain" and script == "faulty"):
                    continue
                done[key] = asdict(run(tool, python, file))
                args.results.write_text(json.dumps(done), encoding="utf-8")
    _table(cases, peers, done)
    return 0


def _table(cases: list[Path], peers: list[str], done: dict[str, Any]) -> None:
    faulty = [c for c in cases if (c / "faulty.py").exists()]
    print(f"{len(faulty)} faulty scripts, {len(cases)} sound ones\n")
    print(f"{'':16}{'caught':>8}{'located':>9}{'false alarms':>14}{'in scripts':>12}{'CPU':>7}")
    for peer in peers:
        count: dict[str, int] = defaultdict(int)
        ratios = []
        for case in cases:
            about = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
            sound = done.get(f"{case.name}/sound/{peer}", {"checks": [], "cpu": 0.0})
            plain = done.get(f"{case.name}/sound/plain", {"cpu": 0.0})
            if plain["cpu"] and sound["cpu"]:
                ratios.append(sound["cpu"] / plain["cpu"])
            loud = [c for c, _ in sound["checks"] if not c.endswith("?") and c not in about.get("allow", [])]
            count["alarms"] += len(loud)
            count["alarmed"] += bool(loud)
            found = done.get(f"{case.name}/faulty/{peer}")
            if found is None:
                continue
            quiet = {c for c, _ in sound["checks"]}
            hits = [
                (check, line)
                for check, line in found["checks"]
                if set(STANDS_FOR.get(check, (check.rstrip("?"),))) & set(about.get("expect", []))
                and (peer == "torchcaliper" or check not in quiet)
            ]
            right = statement_lines((case / "faulty.py").read_text(encoding="utf-8"), about.get("lines", []))
            count["caught"] += bool(hits)
            count["located"] += any(line in right for _, line in hits)
        ratio = f"{statistics.median(ratios):.2f}" if ratios and peer != "torch-preflight" else "-"
        print(
            f"{peer:16}{count['caught']:>8}{count['located']:>9}{count['alarms']:>14}{count['alarmed']:>12}{ratio:>7}"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--act"]:
        act(*sys.argv[2:5])
    else:
        sys.exit(main())
