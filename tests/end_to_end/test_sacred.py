"""The watched program is sacred: the programs in `sacred/` do the same, bit for bit, with and without the watch.

Each prints digests of losses, weights, gradients, optimizer states and random number generators.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the programs are run in forks")

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in (HERE / "sacred").glob("*.py") if path.stem != "digest")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of outcomes of each way to run the programs: plain, watched, and looked at closely in every step."""
    folders = {how: tmp_path_factory.mktemp(how) for how in ("plain", "watched", "stared")}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    for how, folder in folders.items():
        command = [sys.executable, str(HERE / "sacred_driver.py"), how, str(HERE / "sacred"), str(folder), *PROGRAMS]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, timeout=300)
    return folders


@pytest.mark.parametrize("how", ["watched", "stared"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(outcomes: dict[str, Path], name: str, how: str) -> None:
    plain, folder = outcomes["plain"], outcomes[how]
    assert (plain / f"{name}.code").read_text() == "0", (plain / f"{name}.err").read_text()
    for what in ("err", "out", "code"):
        assert (folder / f"{name}.{what}").read_text() == (plain / f"{name}.{what}").read_text(), what
    assert [path.read_text() for path in folder.glob(f"{name}.run/process-*/faults.log")] == []
    records = [json.loads(path.read_text()) for path in folder.glob(f"{name}.run/process-*/record.json")]
    assert any(record["backwards"] > 0 for record in records)
