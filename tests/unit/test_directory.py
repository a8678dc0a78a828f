"""Run directories: found by name, read though broken, pruned."""

from __future__ import annotations

import json
import socket
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from torchcaliper.run.directory import RunDirectory, create, find, list_runs, prune
from torchcaliper.run.record import Program, Run

#: of no process: above the highest pid of Linux and macOS
NOBODY = 2**30


def make(cwd: Path, name: str, *, pid: int = NOBODY, started: datetime | None = None, size: int = 0) -> Path:
    path = cwd / ".torchcaliper" / "runs" / name
    path.mkdir(parents=True)
    started = started or datetime.strptime(name[:15], "%Y%m%d-%H%M%S").astimezone()
    about = {"command": ["t.py"], "started": started.isoformat(), "pid": pid, "host": socket.gethostname()}
    (path / "run.json").write_text(json.dumps(about))
    (path / "padding").write_bytes(b"\0" * size)
    return path


def test_a_new_run_is_the_newest(tmp_path: Path) -> None:
    make(tmp_path, "20200101-000000-aaaaaa")
    run = create(tmp_path, ["train.py", "--lr", "1"], {"quiet": True})
    assert (
        find(None, tmp_path) == find(run.id, tmp_path) == find(str(run.path), tmp_path) == find(run.id[:16], tmp_path)
    )
    assert run.command == ["train.py", "--lr", "1"]
    assert datetime.now().astimezone() - run.started < timedelta(minutes=1)
    assert run.about["options"] == {"quiet": True}
    assert (tmp_path / ".torchcaliper" / ".gitignore").read_text() == "*\n"


def test_names_that_name_no_run(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="torchcaliper run"):
        find(None, tmp_path)
    make(tmp_path, "20200101-000000-aaaaaa")
    make(tmp_path, "20200101-000000-bbbbbb")
    (tmp_path / "folder").mkdir()
    with pytest.raises(LookupError, match="beginning of 2 runs"):
        find("2020", tmp_path)
    with pytest.raises(LookupError, match="no run 'x'"):
        find("x", tmp_path)
    with pytest.raises(LookupError, match="no run ''"):
        find("", tmp_path)
    with pytest.raises(LookupError, match="no run directory"):
        find("folder", tmp_path)


def test_broken_and_foreign_content_reads_as_empty(tmp_path: Path) -> None:
    runs = tmp_path / ".torchcaliper" / "runs"
    for name in ("foreign", "20200101-000000-aaaaaa/process-7", "20200102-000000-bbbbbb/process-x"):
        (runs / name).mkdir(parents=True)
    (runs / "a file").write_text("")
    (runs / "20200101-000000-aaaaaa" / "run.json").write_text('{"command": ["t.p')
    (runs / "20200102-000000-bbbbbb" / "run.json").write_text('["no", "object"]')
    newest, oldest = list_runs(tmp_path)
    assert (newest.id, oldest.id) == ("20200102-000000-bbbbbb", "20200101-000000-aaaaaa")
    assert oldest.started == datetime(2020, 1, 1).astimezone()
    assert oldest.command == newest.command == []
    assert oldest.records() == newest.records() == []
    assert oldest.notes == ["process-7 left no record"]


def test_broken_records_are_left_out_with_a_note(tmp_path: Path) -> None:
    path = make(tmp_path, "20200101-000000-aaaaaa")
    for pid, text in ((3, '{"half'), (20, Run(program=Program(pid=20)).to_json()), (100, "[]")):
        (path / f"process-{pid}").mkdir()
        (path / f"process-{pid}" / "record.json").write_text(text)
    run = RunDirectory(path)
    assert [record.program.pid for record in run.records()] == [20]
    assert len(run.notes) == 2
    assert all("unreadable" in note for note in run.notes)


def test_pruning_by_count_keeps_the_newest_and_the_living(tmp_path: Path) -> None:
    import os

    names = [f"20200101-0000{i:02}-aaaaaa" for i in range(8)]
    for i, name in enumerate(names):
        make(tmp_path, name, pid=os.getpid() if i == 1 else NOBODY)
    assert prune(tmp_path, runs=3) == [names[i] for i in (4, 3, 2, 0)]
    assert [run.id for run in list_runs(tmp_path)] == [names[i] for i in (7, 6, 5, 1)]


def test_pruning_by_size(tmp_path: Path) -> None:
    names = [f"20200101-0000{i:02}-aaaaaa" for i in range(4)]
    for name in names:
        make(tmp_path, name, size=1000)
    assert prune(tmp_path, size=2900) == [names[1], names[0]]
    assert prune(tmp_path, size=10) == [names[2]]
    assert [run.id for run in list_runs(tmp_path)] == [names[3]]


def test_a_run_on_another_machine_is_left_alone_for_a_day(tmp_path: Path) -> None:
    import os

    names = [f"20200101-0000{i:02}-aaaaaa" for i in range(3)]
    for name in names:
        path = make(tmp_path, name)
        about = json.loads((path / "run.json").read_text()) | {"host": "elsewhere"}
        (path / "run.json").write_text(json.dumps(about))
    yesterday = datetime.now().timestamp() - 100_000
    os.utime(tmp_path / ".torchcaliper" / "runs" / names[0] / "run.json", (yesterday, yesterday))
    assert prune(tmp_path, runs=1) == [names[0]]
