"""Programs written from the catalogue alone, by which the rules are judged: the confusion table of `torchcaliper run`.

    python tests/blind/score.py                  # all families
    python tests/blind/score.py kinds 07         # programs whose folder holds these words

Each folder `<family>/NN_topic` has a program and `truth.toml`: whether it is faulty, the code of its root cause, the
right lines, further codes that are true of it. They were written and committed before any rule was run on them.

caught: a finding of that code, at least as severe as the catalogue says; located: at a right statement; noise: another
error or warning; quiet: a sound program without error or warning.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from torchcaliper.rule import all_rules
from torchcaliper.run.blame import statement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
SEVERITY = {rule.code: rule.severity.name.lower() for rule in all_rules()}
LEVELS = ["advice", "warning", "error"]
_LIMIT = 300  # seconds


def findings(folder: Path) -> list[dict[str, Any]]:
    """What `torchcaliper run` finds in a program."""
    with tempfile.TemporaryDirectory() as made:
        output, copy = Path(made) / "findings.json", Path(made) / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("truth.toml", "__pycache__"))
        command = [sys.executable, "-m", "torchcaliper", "run", "--format", "json", "--output", str(output), "train.py"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=_LIMIT, env=environment)
        if not output.exists():
            raise RuntimeError(f"{folder}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        found: list[dict[str, Any]] = json.loads(output.read_text())["findings"]
        return found


def judged(folder: Path) -> dict[str, Any]:
    """One row of the table."""
    truth = tomllib.loads((folder / "truth.toml").read_text())
    found = findings(folder)
    loud = [f for f in found if f["severity"] != "advice"]
    row: dict[str, Any] = {"family": folder.parent.name, "name": folder.name, **truth}
    shown = [f"{f['code']}:{place(f)[0]}:{place(f)[1]}" for f in found]
    if truth["verdict"] == "sound":
        return {**row, "quiet": not loud, "shown": shown}
    code = truth["code"]
    hits = [f for f in found if f["code"] == code and LEVELS.index(f["severity"]) >= LEVELS.index(SEVERITY[code])]
    script = folder / truth.get("file", "train.py")
    spans = [statement(str(script), line) for line in truth["lines"]]
    located = any(
        place(f)[0] == script.name and any(first <= place(f)[1] <= last for first, last in spans) for f in hits
    )
    noise = [f for f in loud if f["code"] not in {code, *truth.get("also", [])}]
    return {**row, "caught": bool(hits), "located": located, "noise": len(noise), "shown": shown}


def place(finding: dict[str, Any]) -> tuple[str, int]:
    return Path(finding["path"] or "").name, finding["line"] or 0


def main() -> int:
    folders = sorted(p.parent for p in HERE.glob("*/*/truth.toml") if all(w in str(p.parent) for w in sys.argv[1:]))
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(judged, folders))
    families: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        families[row["family"]].append(row)
        good = row.get("quiet", row.get("located") and not row.get("noise"))
        print(f"{'  ' if good else '! '}{row['family']}/{row['name']}: {row.get('code', 'sound')} -> {row['shown']}")
    print(f"\n{'family':12} faulty caught located noise   sound quiet")
    for family, members in families.items():
        faulty = [r for r in members if r["verdict"] == "faulty"]
        sound = [r for r in members if r["verdict"] == "sound"]
        print(
            f"{family:12} {len(faulty):6} {sum(r['caught'] for r in faulty):6} {sum(r['located'] for r in faulty):7} "
            f"{sum(r['noise'] for r in faulty):5} {len(sound):7} {sum(r['quiet'] for r in sound):5}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
