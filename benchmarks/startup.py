"""What the watch costs before and after the training: importing, starting, judging a short script, the log.

    python benchmarks/startup.py [--repeats 7]

The exit code is 1 when a bar is not held.

Plain and watched processes are started by turns, and each figure is the median of the differences within a turn, in
seconds of the clock: it is what a person waits for. On a machine that is busy with other things the clock is a poor
witness, so the CPU seconds of the same processes stand beside it.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: only what every watched program does: the watch gets in, and leaves
_NOTHING = "import torch\n"

#: 32 steps of a small network that never clears its gradients
_SHORT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images, labels = torch.randn(512, 1, 16, 16), torch.randint(10, (512,))
loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(16 * 14 * 14, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
"""

_IMPORT = """\
import sys, time
begin = time.perf_counter()
import torchcaliper
print(time.perf_counter() - begin)
assert "torch" not in sys.modules
"""


@dataclass(frozen=True)
class Took:
    seconds: float
    cpu: float
    output: str


def execute(command: Sequence[str], folder: str) -> Took:
    """Run a command to its end."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    outcome = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(seconds, cpu, outcome.stdout + outcome.stderr)


def compare(program: str, folder: str, repeats: int) -> tuple[list[Took], list[Took]]:
    """The same program `repeats` times plain and watched, by turns."""
    file = Path(folder, "train.py")
    file.write_text(program, encoding="utf-8")
    plain, watched = [], []
    for _ in range(repeats):
        plain.append(execute([file.name], folder))
        watched.append(execute(["-m", "torchcaliper", "run", file.name], folder))
    return plain, watched


def added(plain: list[Took], watched: list[Took]) -> tuple[float, float]:
    """Median difference within a turn: seconds of the clock, CPU seconds."""
    return (
        statistics.median(w.seconds - p.seconds for p, w in zip(plain, watched, strict=True)),
        statistics.median(w.cpu - p.cpu for p, w in zip(plain, watched, strict=True)),
    )


def size(folder: Path) -> int:
    """Bytes that the newest run takes on the disk."""
    newest = max((folder / ".torchcaliper" / "runs").iterdir(), key=lambda path: path.stat().st_mtime)
    return sum(4096 * -(-file.stat().st_size // 4096) for file in newest.rglob("*") if file.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="processes of each kind (default: %(default)s)")
    args = parser.parse_args()
    held = True

    def tell(what: str, figure: float, bar: float, unit: str, more: str = "") -> None:
        nonlocal held
        good = figure <= bar
        held = held and good
        print(f"{what:52}{figure:8.2f} {unit:3} bar {bar:8.2f}: {'held' if good else 'NOT HELD':9}{more}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        imports = [float(execute(["-c", _IMPORT], folder).output) for _ in range(args.repeats)]
        tell("import torchcaliper, without torch", statistics.median(imports) * 1e3, 60, "ms")

        plain, watched = compare(_NOTHING, folder, args.repeats)
        seconds, cpu = added(plain, watched)
        tell("start-up added to a watched program", seconds, 0.5, "s", f"  (CPU {cpu:.2f} s)")

        plain, watched = compare(_SHORT, folder, args.repeats)
        assert all("A103" in took.output for took in watched), watched[0].output
        seconds, cpu = added(plain, watched)
        bar = 0.1 * statistics.median(took.seconds for took in plain) + 1
        more = f"  (CPU {cpu:.2f} s; plain: {bar * 10 - 10:.1f} s)"
        tell("added to 32 steps until their verdict", seconds, bar, "s", more)
        tell("log of these 32 steps", size(Path(folder)) / 1e3, 100, "kB")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
