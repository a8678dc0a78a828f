"""Lines per second of `torchcaliper lint`, of its peers, and of bare parsing, side by side over the same files.

    python benchmarks/lint.py PATH...                  # three rounds, interleaved
    python benchmarks/lint.py PATH... --rounds 5 --peers torchfix,ruff

Each round runs every tool once, one after the other, in two processes where the tool can: torchcaliper without its
cache (cold), with it (warm), `ast.parse` of the same files in two processes that are there already (no start-up, no
reading of results: an upper bound), TorchFix, torch-preflight, flake8 (with two jobs) and ruff. Reported are medians
of the rounds and their ratios to TorchFix and to bare parsing. Peers are installed into environments of their own
under `--environments` (default `.lint-peers`).
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

JOBS = 2
PACKAGES = {
    "torchfix": ["torchfix==0.7.0"],
    "torch-preflight": ["torch-preflight==0.5.0"],
    "flake8": ["flake8>=7"],
    "ruff": ["ruff>=0.12"],
}
_LEFT_OUT = {".git", "__pycache__", "build", "dist", "node_modules", "site-packages", ".venv", "venv"}


def parse_all(paths: list[str]) -> int:
    """Parse files and throw the trees away; the number of those that are valid."""
    parsed = 0
    for path in paths:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(Path(path).read_bytes())
            parsed += 1
        except (SyntaxError, ValueError, RecursionError):
            pass
    return parsed


def python_files(roots: list[str]) -> list[str]:
    found: list[str] = []
    for root in roots:
        if os.path.isfile(root):
            found.append(root)
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in _LEFT_OUT]
            found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)


def environment(name: str, folder: Path) -> Path:
    """The Python of a peer's own environment, made on first use."""
    where = folder / name
    python = where / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(where, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[name]], check=True)
    return python


def command(name: str, python: Path, roots: list[str]) -> list[str]:
    """One pass of a tool over all files."""
    tool = str(python.parent / name)
    if name == "torchfix":
        return [tool, "--select", "ALL", *roots]
    if name == "torch-preflight":
        return [tool, "lint", *roots]
    if name == "flake8":
        return [tool, "--jobs", str(JOBS), "--isolated", *roots]
    return [tool, "check", "--isolated", "--no-cache", *roots]


def timed(call: list[str], cwd: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(call, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(PACKAGES), help="default: %(default)s")
    parser.add_argument("--environments", type=Path, default=Path(".lint-peers"))
    args = parser.parse_args()
    roots = [os.path.abspath(path) for path in args.paths]
    files = python_files(roots)
    lines = sum(Path(file).read_bytes().count(b"\n") for file in files)
    print(f"{len(files)} files, {lines:,} lines, {args.rounds} rounds, {JOBS} processes where a tool can")
    peers = [name for name in args.peers.split(",") if name]
    pythons = {name: environment(name, args.environments.absolute()) for name in peers}
    own = [sys.executable, "-m", "torchcaliper", "lint", "--jobs", str(JOBS), *roots]
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as made, ProcessPoolExecutor(JOBS) as pool:
        scratch = Path(made)
        parts = [files[number::JOBS] for number in range(JOBS)]
        list(pool.map(parse_all, [[]] * JOBS))  # the processes are there before anything is timed
        timed(own, scratch)  # fills the cache
        for _ in range(args.rounds):
            begin = time.perf_counter()
            list(pool.map(parse_all, parts))
            seconds.setdefault("ast.parse", []).append(time.perf_counter() - begin)
            seconds.setdefault("torchcaliper, cold", []).append(timed([*own, "--no-cache"], scratch))
            seconds.setdefault("torchcaliper, warm", []).append(timed(own, scratch))
            for name in peers:
                call = command(name, pythons[name], roots)
                seconds.setdefault(name, []).append(timed(call, scratch))
        shutil.rmtree(scratch / ".torchcaliper", ignore_errors=True)
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    print(f"\n{'':20} {'seconds':>9} {'lines/s':>11} {'x torchfix':>11} {'x ast.parse':>12}")
    for name, value in middle.items():
        fix = f"{middle['torchfix'] / value:.1f}" if "torchfix" in middle else "-"
        print(f"{name:20} {value:9.2f} {lines / value:11,.0f} {fix:>11} {middle['ast.parse'] / value:12.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
