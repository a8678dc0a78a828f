"""Out-of-memory messages and memory snapshots, read without a GPU."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from torchcaliper.cli import main
from torchcaliper.errors import UsageError
from torchcaliper.looking.memory import read_snapshot
from torchcaliper.run.causes.memory import figures

GIB, MIB = 2**30, 2**20


def block(size: int, state: str, *frames: tuple[str, int, str]) -> dict[str, Any]:
    shown = [{"filename": path, "line": line, "name": name} for path, line, name in frames]
    return {"address": 1, "size": size, "requested_size": size, "state": state, "frames": shown}


def snapshot(folder: Path) -> Path:
    library = ("/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", 134, "forward")
    held = block(300 * MIB, "active_allocated", ("??", 0, "c10"), library, (f"{folder}/model.py", 14, "forward"))
    blocks = [held, block(200 * MIB, "inactive"), block(12 * MIB, "active_awaiting_free")]
    segments = [
        {"device": 0, "total_size": 512 * MIB, "blocks": blocks},
        {"device": 0, "total_size": 100 * MIB, "blocks": [block(100 * MIB, "inactive")]},
    ]
    file = folder / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": segments, "device_traces": []}))
    return file


def test_a_snapshot_is_added_up(tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (device,) = read_snapshot(snapshot(tmp_path))
    assert (device.reserved, device.allocated, device.waiting) == (612 * MIB, 300 * MIB, 12 * MIB)
    assert (device.free, device.largest_free, device.idle_segments) == (300 * MIB, 200 * MIB, 100 * MIB)
    assert [(h.place, h.bytes) for h in device.holders] == [(f"{tmp_path}/model.py:14 forward", 300 * MIB)]
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--memory", "snapshot.pickle"]) == 0
    shown = capsys.readouterr().out
    assert "612.0 MiB reserved: 300.0 MiB allocated, 300.0 MiB free in 2 pieces, the largest 200.0 MiB" in shown
    assert "model.py:14 forward" in shown
    assert main(["report", "--memory", "snapshot.pickle", "--format", "json"]) == 0
    assert '"reserved": 641728512' in capsys.readouterr().out


class Harmful:
    def __reduce__(self) -> Any:
        return os.system, ("exit 3",)


@pytest.mark.parametrize("content", [pickle.dumps({"segments": [Harmful()]}), pickle.dumps([1]), b"", b"text"])
def test_nothing_in_a_file_is_run(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "s.pickle"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="is no memory snapshot"):
        read_snapshot(file)


def test_messages_of_several_releases() -> None:
    new = figures(
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which 10.00 MiB "
        "is free. Process 4711 has 30.00 GiB memory in use. Including non-PyTorch memory, this process has 49.00 GiB "
        "memory in use. Of the allocated memory 40.00 GiB is allocated by PyTorch, and 8.00 GiB is reserved by "
        "PyTorch but unallocated."
    )
    assert new is not None
    assert (new["device"], new["requested"], new["others"]) == ("cuda:0", 20 * MIB, 30 * GIB)
    assert (new["allocated"], new["unused"], new["reserved"]) == (40 * GIB, 8 * GIB, 48 * GIB)
    mps = figures(
        "MPS backend out of memory (MPS allocated: 9.00 GB, other allocations: 1.00 KB, max allowed: 18.00 GB). "
        "Tried to allocate 9.50 GB on private pool."
    )
    assert mps is not None
    assert (mps["device"], mps["requested"]) == ("mps", int(9.5e9))
    assert figures("something else is out of memory") is None
