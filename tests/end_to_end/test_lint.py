"""`torchcaliper lint` as it is called: files, folders, stdin, notebooks, formats, fixes, cache, files of all sorts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchcaliper.source.checking import check_file
from torchcaliper.source.project import Project

FAULTY = """\
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return F.softmax(self.fc(F.dropout(x, 0.5)), dim=1)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    opt.zero_grad
    loss = nn.CrossEntropyLoss()(net(x), y)
    loss.backward()
    opt.step()
"""
MODEL = """\
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 2){last})

    def forward(self, x):
        return self.net(x)
"""
TRAIN = """\
import torch
from model import Model

model = Model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    loss = torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def lint(cwd: Path, *args: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "torchcaliper", "lint", *args]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, timeout=120)


def found(cwd: Path, *args: str, stdin: bytes | None = None) -> list[dict[str, object]]:
    done = lint(cwd, "--format", "json", *args, stdin=stdin)
    assert done.returncode in (0, 1), done.stderr.decode()
    result: list[dict[str, object]] = json.loads(done.stdout)["findings"]
    return result


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(FAULTY)
    return tmp_path


def test_the_console_shows_the_line_the_reason_the_fix_and_a_tally(program: Path) -> None:
    done = lint(program)
    text = done.stdout.decode()
    assert done.returncode == 1
    assert "error  L101 activation-before-cross-entropy" in text
    assert "train.py:12" in text
    assert "12 |         return F.softmax(" in text
    assert text.rstrip().endswith("3 errors in 1 file (2 can be fixed with --fix)")
    assert not done.stderr


def test_a_sound_program_is_met_with_silence(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "model.py").write_text(MODEL.format(last=""))
    done = lint(tmp_path)
    assert (done.returncode, done.stdout.decode()) == (0, "no faults found in 2 files\n")


def test_torch_is_not_imported(program: Path) -> None:
    code = (
        "import sys; sys.argv = ['torchcaliper', 'lint', '.']\n"
        "from torchcaliper.cli import main\n"
        "main()\n"
        "assert not {'torch', 'numpy'} & set(sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=program, capture_output=True).returncode == 0


def test_annotations_for_github_are_escaped(program: Path) -> None:
    lines = lint(program, "--format", "github").stdout.decode().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("::error title=L101 activation-before-cross-entropy,file=train.py,line=12,col=16::")
    assert "%0AFix: " in lines[0]


def test_sarif_has_rules_regions_fixes_and_fingerprints(program: Path) -> None:
    document = json.loads(lint(program, "--format", "sarif").stdout)
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in rules] == ["A103", "L101", "M106"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
        assert len(result["partialFingerprints"]["torchcaliper/v1"]) == 32
    (dropout,) = [r for r in run["results"] if r["ruleId"] == "M106"]
    change = dropout["fixes"][0]["artifactChanges"][0]
    assert change["artifactLocation"]["uri"] == "train.py"
    assert change["replacements"][0]["insertedContent"]["text"] == ", training=self.training"


def test_a_fault_across_two_files_is_told_where_the_layer_is_made(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "model.py").write_text(MODEL.format(last=", nn.Softmax(dim=1)"))
    (finding,) = found(tmp_path, "train.py")
    assert (finding["code"], finding["path"], finding["line"]) == ("L101", "model.py", 7)


def test_the_cache_sees_that_an_imported_file_has_changed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "model.py").write_text(MODEL.format(last=""))
    assert not found(tmp_path)
    (tmp_path / "model.py").write_text(MODEL.format(last=", nn.Softmax(dim=1)"))
    assert [f["code"] for f in found(tmp_path)] == ["L101"]
    assert [f["code"] for f in found(tmp_path)] == ["L101"]
    (tmp_path / "model.py").unlink()
    assert not found(tmp_path)


def test_a_broken_cache_is_thrown_away(program: Path) -> None:
    assert len(found(program)) == 3
    store = program / ".torchcaliper" / "lint.sqlite"
    store.write_bytes(b"not a database" * 100)
    assert len(found(program)) == 3
    assert len(found(program)) == 3
    assert (program / ".torchcaliper" / ".gitignore").read_text() == "*\n"


def test_several_processes_find_the_same_as_one(tmp_path: Path) -> None:
    for number in range(60):
        filler = "".join(f"value_{i} = torch.zeros({i})\n" for i in range(300))
        (tmp_path / f"train_{number}.py").write_text(FAULTY + filler)
    one = found(tmp_path, "--jobs", "1", "--no-cache")
    assert len(one) == 180
    assert found(tmp_path, "--jobs", "3", "--no-cache") == one


def test_fixes_are_applied_and_what_remains_is_told(program: Path) -> None:
    text = FAULTY.replace("\n", "\r\n")
    (program / "train.py").write_bytes(b"\xef\xbb\xbf" + text.encode())
    shown = lint(program, "--diff")
    assert shown.returncode == 1
    assert "+    opt.zero_grad()" in shown.stdout.decode()
    assert (program / "train.py").read_bytes() == b"\xef\xbb\xbf" + text.encode()
    done = lint(program, "--fix")
    expected = text.replace("opt.zero_grad\r\n", "opt.zero_grad()\r\n").replace("0.5)", "0.5, training=self.training)")
    assert (program / "train.py").read_bytes() == b"\xef\xbb\xbf" + expected.encode()
    assert done.returncode == 1
    assert b"1 error in 1 file" in done.stdout
    assert b"2 fixed" in done.stderr


def test_what_is_suppressed_is_neither_told_nor_fixed(program: Path) -> None:
    text = FAULTY.replace("opt.zero_grad\n", "opt.zero_grad  # caliper: ignore[A103]\n")
    text = text.replace("dim=1)", "dim=1)  # caliper: ignore")
    (program / "train.py").write_text(text)
    assert not found(program)
    lint(program, "--fix")
    assert (program / "train.py").read_text() == text


def test_stdin_is_judged_under_the_name_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL.format(last=", nn.Softmax(dim=1)"))
    (tmp_path / "train.py").write_text("saved = 'something else'\n")
    (finding,) = found(tmp_path, "-", "--stdin-filename", "train.py", stdin=TRAIN.encode())
    assert (finding["code"], finding["path"]) == ("L101", "model.py")
    suppressed = FAULTY.replace("dim=1)", "dim=1)  # caliper: ignore")
    codes = [f["code"] for f in found(tmp_path, "-", "--stdin-filename", "train.py", stdin=suppressed.encode())]
    assert codes == ["A103"]


def test_notebooks_are_read_by_cell(tmp_path: Path) -> None:
    lines = FAULTY.splitlines(keepends=True)
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", *lines[:12]]},
        {"cell_type": "code", "source": lines[12:]},
    ]
    (tmp_path / "study.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    places = {f["code"]: (f["cell"], f["line"]) for f in found(tmp_path)}
    assert places == {"L101": (2, 13), "M106": (2, 13), "A103": (3, 7)}
    assert "study.ipynb:cell 3:7" in lint(tmp_path).stdout.decode()


def test_selection_exclusion_baseline_and_statistics(program: Path) -> None:
    assert [f["code"] for f in found(program, "--select", "M1")] == ["M106"]
    assert {f["code"] for f in found(program, "--ignore", "M1")} == {"L101", "A103"}
    (program / "old").mkdir()
    (program / "old" / "copy.py").write_text(FAULTY)
    assert len(found(program)) == 6
    assert len(found(program, "--exclude", "old")) == 3
    (program / "pyproject.toml").write_text('[tool.torchcaliper]\nexclude = ["old/*.py"]\nignore = ["L"]\n')
    assert len(found(program)) == 2
    assert lint(program, "--write-baseline", "known.json").returncode == 0
    assert not found(program, "--baseline", "known.json")
    counted = lint(program, "--statistics").stdout.decode().splitlines()
    assert counted[:2] == ["1  A103  gradients-never-cleared", "1  M106  functional-dropout-ignores-eval"]


def test_the_level_of_failure_can_be_chosen(program: Path) -> None:
    assert lint(program, "--select", "M106").returncode == 1
    (program / "train.py").write_text("import torch\n")
    assert lint(program, "--fail-on", "advice").returncode == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("syntax.py", b"import torch\ndef f(:\n", "syntax.py:2: not valid Python"),
        ("nul.py", b"import torch\n\0\0\0\n", "nul.py"),
        ("latin.py", b"import torch\nname = '\xe9'\n", "latin.py"),
        ("declared.py", b"# -*- coding: no-such -*-\nimport torch\n", "declared.py"),
        ("deep.py", b"import torch\nx = " + b"(" * 5000 + b")" * 5000 + b"\n", "deep.py"),
        ("broken.ipynb", b'{"cells": [1, 2], "torch": 1}', "broken.ipynb"),
    ],
)
def test_what_cannot_be_read_gets_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    done = lint(tmp_path)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert len(lines) == 1
    assert said in lines[0]
    assert b"in 1 file" in done.stdout


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bom.py", b"\xef\xbb\xbfimport torch\n"),
        ("cyrillic.py", "# -*- coding: cp1251 -*-\nimport torch\nимя = 'да'\n".encode("cp1251")),
        ("empty.py", b""),
        ("long.py", b"import torch\n" + b"x = torch.zeros(3)\n" * 20_000),
        ("chain.py", b"import torch\nx = " + b"+".join([b"1"] * 900) + b"\n"),
        ("form.py", b"import torch\n\x0cx = 1\r\ny = 2\rz = 3\n"),
    ],
)
def test_odd_files_are_read(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    done = lint(tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_links_and_folders_with_odd_names(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    done = lint(tmp_path)
    assert done.returncode == 1
    assert b"gone.py: cannot be read" in done.stderr
    assert lint(tmp_path, "missing").returncode == 2
    if os.geteuid():
        (tmp_path / "secret.py").write_text("import torch\n")
        (tmp_path / "secret.py").chmod(0)
        assert b"secret.py: cannot be read" in lint(tmp_path).stderr


PIECES = FAULTY.splitlines(keepends=True)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20).map(lambda t: t + "\n")), max_size=40),
    st.sampled_from(["train.py", "study.ipynb"]),
)
def test_any_text_gets_an_answer(lines: list[str], name: str) -> None:
    content = ("import torch\n" + "".join(lines)).encode("utf-8", "replace")
    answer = check_file(Path("/nowhere") / name, content, Project())
    assert not any(problem.ours for problem in answer.problems)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    answer = check_file(Path("/nowhere/train.py"), b"import torch\n" + data, Project())
    assert not any(problem.ours for problem in answer.problems)
    assert len(answer.problems) <= 1
