"""What becomes of the words after `torchcaliper run`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcaliper.cli import main, run
from torchcaliper.errors import UsageError
from torchcaliper.run.launch import BOOT, interpreter_options, unwatchable, watched_environment
from torchcaliper.run.program import command_line
from torchcaliper.run.supervise import supervise


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    run.add_parser(parser.add_subparsers(dest="verb"))  # type: ignore[arg-type]
    return parser.parse_args(["run", *words])


@given(
    st.lists(
        st.sampled_from(["--f", "--format", "json", "--quiet", "-m", "-c", "--", "-", "--he", "x", "", "-h", "-1"])
    )
)
def test_everything_after_the_program_is_the_programs(arguments: list[str]) -> None:
    for words in (["t.py"], ["-"], ["-m", "module"], ["-c", "code"]):
        args = parsed(["--quiet", "--format", "json", *words, *arguments])
        assert args.program == [words[-1], *arguments]
        assert args.kind == (words[0] if len(words) == 2 else None)
        assert (args.quiet, args.format) == (True, "json")


@pytest.mark.parametrize(
    ("words", "options", "letters"),
    [
        (["-m", "torchcaliper", "run", "-X"], [], ""),
        (["/bin/torchcaliper", "run"], [], ""),
        (["-"], [], ""),
        (["-X", "dev", "-um", "torchcaliper"], ["-X", "dev", "-u"], "Xu"),
        (["-Xdev", "-W", "error", "-OO", "t.py"], ["-Xdev", "-W", "error", "-OO"], "XWOO"),
        (["-uWerror", "-Icprint()"], ["-uWerror", "-I"], "uWI"),
        (["--check-hash-based-pycs", "never", "-B", "t.py"], ["--check-hash-based-pycs", "never", "-B"], "B"),
    ],
)
def test_options_of_the_interpreter(words: list[str], options: list[str], letters: str) -> None:
    assert interpreter_options(words) == (options, letters)


@pytest.mark.parametrize(
    ("command", "watchable"),
    [
        (["/usr/bin/python3.12", "t.py", "-I"], True),
        (["python", "-uI", "t.py"], False),
        (["python3", "-X", "dev", "-E", "-m", "t"], False),
        (["python3.13t", "-S", "t.py"], False),
        (["python", "-W", "I", "t.py"], True),
        (["/usr/bin/pythonic", "-I"], True),
        (["torchrun", "-E", "t.py"], True),
    ],
)
def test_commands_that_cannot_be_watched(command: list[str], watchable: bool) -> None:
    assert (unwatchable(command) is None) == watchable


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (None, [BOOT]),
        ("", [BOOT]),
        ("/a:/b", [BOOT, "/a", "/b"]),
        ("/a:", [BOOT, "/a", ""]),
        (f"{BOOT}:/a", [BOOT, "/a"]),
    ],
)
def test_the_users_python_path_comes_behind_ours(theirs: str | None, ours: list[str]) -> None:
    environ = {} if theirs is None else {"PYTHONPATH": theirs.replace(":", os.pathsep)}
    environment = watched_environment(environ, Path("/run"), {"quiet": True}, 7)
    assert environment["PYTHONPATH"].split(os.pathsep) == ours
    assert environment["TORCHCALIPER_ROOT_PID"] == "7"
    assert environment["TORCHCALIPER_OPTIONS"] == '{"quiet": true}'


def test_a_script_is_preferred_to_a_command_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    for name in ("bin/train", "bin/job.py"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert command_line(None, ["train", "x"]) == [str(tmp_path / "bin" / "train"), "x"]
    (tmp_path / "train").mkdir()
    assert command_line(None, ["train", "x"])[0] == str(tmp_path / "bin" / "train")
    (tmp_path / "train" / "__main__.py").write_text("")
    assert command_line(None, ["train", "x"])[-2:] == ["train", "x"]
    with pytest.raises(UsageError, match=r"no such script or command: job\.py"):
        command_line(None, ["job.py"])


def test_modules_are_looked_for_without_running_their_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "unrunnable"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('ran')")
    (package / "train.py").write_text("")
    assert command_line("-m", ["unrunnable.train"])[-2:] == ["-m", "unrunnable.train"]
    for name in ("unrunnable.absent", "unrunnable.train.absent", "absent", "absent.train"):
        with pytest.raises(UsageError, match="no module named"):
            command_line("-m", [name])
    (package / "__init__.py").write_text("__path__.append('elsewhere')")
    assert command_line("-m", ["unrunnable.absent"])[-1] == "unrunnable.absent"


def test_a_supervised_child_gives_its_exit_code(tmp_path: Path) -> None:
    assert supervise([sys.executable, "-c", "raise SystemExit(5)"], os.environ) == 5


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_signals_are_the_childs(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(30)"
    )
    assert supervise([sys.executable, "-c", code], os.environ) == 3
    code = "import os, signal, time\nos.kill(os.getppid(), signal.SIGHUP)\ntime.sleep(30)"
    assert supervise([sys.executable, "-c", code], os.environ) == -signal.SIGHUP


def test_a_command_that_cannot_be_supervised(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        supervise([str(tmp_path / "absent")], os.environ)


def test_a_file_that_cannot_be_started_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "job"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    assert main(["run", "--quiet", "./job"]) == 2
    assert capsys.readouterr().err == f"torchcaliper: cannot start {script}: No such file or directory\n"
