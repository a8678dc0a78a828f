"""The watched program is sacred: everything it can see and everything it does equals plain Python's."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from harness import SILENT, Outcome, assert_same, attached, both, caliper, document, execute, runs, watched, write

import torchcaliper

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and exec are those of POSIX")

TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]

#: what a program can see of how it was started
IDENTITY = """
    import __main__, importlib.metadata, importlib.util, json, os, re, sys, torch
    found = importlib.util.find_spec("torch")
    print(json.dumps({
        "argv": sys.argv, "orig_argv": sys.orig_argv, "path": sys.path, "flags": repr(sys.flags),
        "executable": sys.executable, "warnoptions": sys.warnoptions, "xoptions": repr(sys._xoptions),
        "main": {k: re.sub("0x[0-9a-f]+", "0x", repr(v)) for k, v in vars(__main__).items() if k.startswith("__")},
        "sitecustomize": "sitecustomize" in sys.modules, "cwd": os.getcwd(),
        "cached_paths": sorted(p for p in sys.path_importer_cache if "_boot" in p),
        "finders": [getattr(f, "__name__", type(f).__name__) for f in sys.meta_path],
        "torch": [type(torch.__loader__).__name__, sorted(vars(torch.__loader__)), torch.__spec__.origin,
                  torch.__spec__.loader is torch.__loader__, found is torch.__spec__],
        "version": importlib.metadata.version("torch"),
    }, indent=1))
"""

#: a short training that exercises what the probes sit on
TRAINING = """
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(8, 16)
            self.out = nn.Linear(16, 3)

        def forward(self, x):
            return self.out(F.relu(self.hidden(x)))

    def train(steps=6):
        torch.manual_seed(0)
        net = Net()
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
        losses = []
        for _ in range(steps):
            x, y = torch.randn(4, 8), torch.randint(3, (4,))
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return net, optimizer, losses
"""


def training(tail: str) -> str:
    """A program that can train, and then does `tail`."""
    return TRAINING.replace("\n    ", "\n") + "\n" + tail


# how a program is started ---------------------------------------------------------------------------------------


def test_script_sees_what_plain_python_shows(tmp_path: Path) -> None:
    write(tmp_path, "scripts/t.py", IDENTITY)
    assert_same(["scripts/t.py", "--f", "1", "--", "--quiet", "-m", "--format=json", ""], tmp_path)


def test_module_with_relative_import(tmp_path: Path) -> None:
    write(tmp_path, "package/__init__.py", "print('package', __name__)")
    write(tmp_path, "package/model.py", "WIDTH = 3")
    write(tmp_path, "package/train.py", "from .model import WIDTH" + IDENTITY.replace("\n    ", "\n"))
    assert_same(["-m", "package.train", "--lr", "0.1", "-c", "x"], tmp_path)


def test_program_on_stdin(tmp_path: Path) -> None:
    program = IDENTITY.replace("\n    ", "\n")
    assert_same(["-", "a", "-b"], tmp_path, stdin=program)


def test_code(tmp_path: Path) -> None:
    assert_same(["-c", IDENTITY.replace("\n    ", "\n"), "--quiet", "-m"], tmp_path)


def test_folder_with_main(tmp_path: Path) -> None:
    write(tmp_path, "app/__main__.py", "import sys; print(sys.argv, sys.path, __file__, __spec__.origin)")
    assert_same(["app", "x"], tmp_path)


def test_interpreter_options_are_handed_on(tmp_path: Path) -> None:
    write(tmp_path, "t.py", IDENTITY)
    flags = ["-O", "-u", "-X", "utf8", "-W", "error::UserWarning", "-Bb"]
    assert_same(["t.py"], tmp_path, flags=flags)


def test_stdin_belongs_to_the_program(tmp_path: Path) -> None:
    write(tmp_path, "t.py", "import sys; print(sys.stdin.read()[::-1])")
    assert assert_same(["t.py"], tmp_path, stdin="a line\nand more").stdout == "erom dna\nenil a\n"


def test_commands_other_than_python(tmp_path: Path) -> None:
    script = write(tmp_path, "job.sh", '#!/bin/sh\necho "$1"; exec "$PYTHON" t.py\n')
    script.chmod(0o755)
    write(tmp_path, "t.py", training("train()\nprint('trained')\n"))
    environment = {"PYTHON": sys.executable}
    for command in (["./job.sh", "hello"], ["sh", "job.sh", "hello"]):
        found = watched(command, tmp_path, environment=environment)
        assert (found.code, found.stdout, found.stderr) == (0, "hello\ntrained\n", "")
    assert len(attached(tmp_path)) == 2


# how it ends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        ("import atexit; atexit.register(print, 'first'); atexit.register(print, 'last'); sys.exit(7)", 7),
        ("sys.exit('no data')", 1),
        ("print('gone', flush=True); os._exit(9)", 9),
        ("import threading; threading.Thread(target=lambda: 1 / 0).start()", 0),
    ],
    ids=["sys.exit", "message", "os._exit", "thread"],
)
def test_exit(tmp_path: Path, tail: str, code: int) -> None:
    write(tmp_path, "t.py", training(f"import os, sys\nprint(train()[2])\n{tail}\n"))
    expected, found = both(["t.py"], tmp_path)
    assert found == expected
    assert found.code == code


@pytest.mark.parametrize(
    ("tail", "number", "code"),
    [
        ("time.sleep(60)", signal.SIGINT, -signal.SIGINT),
        ("time.sleep(60)", signal.SIGTERM, -signal.SIGTERM),
        ("try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('caught')\n    sys.exit(5)", signal.SIGINT, 5),
    ],
    ids=["interrupt", "terminate", "caught"],
)
def test_signal(tmp_path: Path, tail: str, number: signal.Signals, code: int) -> None:
    body = "import signal, sys, time\ntrain()\nprint([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)])\n"
    write(tmp_path, "t.py", training(f"{body}print('ready', flush=True)\n{tail}\n"))
    assert assert_same(["t.py"], tmp_path, send=number).code == code


def test_tracebacks_show_no_frame_of_ours(tmp_path: Path) -> None:
    tail = """
import traceback
from torch.utils.data import DataLoader, Dataset

class Broken(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        raise LookupError(f"no sample {index}")

class Raising(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
    def forward(self, x):
        raise RuntimeError("in forward")

net, optimizer, _ = train()
used = net(torch.zeros(1, 8)).sum()
used.backward()

def closure():
    raise ArithmeticError("in closure")

def raising_hook(*_):
    raise OSError("in hook")

hooked = nn.Sequential(nn.Linear(2, 2))
hooked.register_forward_hook(raising_hook)
leaf = torch.zeros(2, requires_grad=True)
leaf.register_hook(raising_hook)
attempts = {
    "forward": lambda: nn.Sequential(nn.Sequential(Raising()))(torch.zeros(1)),
    "shape": lambda: net(torch.zeros(1, 9)),
    "hook": lambda: hooked(torch.zeros(1, 2)),
    "loss": lambda: F.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 7])),
    "loss module": lambda: nn.NLLLoss()(torch.zeros(2, 3), torch.zeros(2)),
    "backward": lambda: used.backward(),
    "tensor hook": lambda: (leaf * 2).sum().backward(),
    "grad": lambda: torch.autograd.grad(torch.zeros(1), leaf),
    "step": lambda: optimizer.step(closure),
    "scheduler": lambda: torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / 0),
    "clip": lambda: nn.utils.clip_grad_norm_([leaf], "much"),
    "load": lambda: net.load_state_dict({}),
    "loader": lambda: list(DataLoader(Broken())),
    "worker": lambda: list(DataLoader(Broken(), num_workers=1)),
    "optimizer": lambda: torch.optim.SGD([], lr=1),
    "attribute": lambda: net.nothing,
    "save": lambda: torch.save(net, "/nonexistent/file"),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except Exception as error:
        print("---", name)
        print(traceback.format_exc())
        print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
nn.Sequential(Raising())(torch.zeros(1))
"""
    write(tmp_path, "t.py", training(tail))
    # The worker's name and pid are not in the text; its frames are.
    found = assert_same(["t.py"], tmp_path)
    assert found.code == 1
    assert "RuntimeError: in forward" in found.stderr


def test_a_program_that_imports_a_broken_torch(tmp_path: Path) -> None:
    write(tmp_path, "torch/__init__.py", "import warnings\nwarnings.warn('old', stacklevel=2)\nraise ERROR\n")
    body = """
        import builtins, traceback
        for builtins.ERROR in (ImportError("no library"), OSError("no driver"), KeyError("k")):
            try:
                import torch
            except Exception:
                traceback.print_exc()
        builtins.ERROR = SystemExit(4)
        import torch
    """
    write(tmp_path, "t.py", body)
    assert assert_same(["t.py"], tmp_path).code == 4


def test_warnings_name_the_users_line(tmp_path: Path) -> None:
    tail = """
import warnings

class Warning2(nn.Module):
    def __init__(self, level):
        super().__init__()
        self.level = level
    def forward(self, x):
        warnings.warn(f"level {self.level}", stacklevel=self.level)
        return x

warnings.simplefilter("always")
net, optimizer, _ = train()
F.mse_loss(torch.zeros(3, 1), torch.zeros(3))
nn.MSELoss()(torch.zeros(3, 1), torch.zeros(3))
for level in (1, 2, 3, 4):
    Warning2(level)(torch.zeros(1))
net(torch.zeros(1, 8)).sum().backward(create_graph=True)
scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), lr=1.0), 1)
scheduler.step()
F.softmax(torch.zeros(2, 2))
nn.utils.clip_grad_norm_([torch.zeros(1)], 1.0)
(torch.zeros(1, requires_grad=True) * 2).grad
nn.functional.sigmoid(torch.zeros(1))
"""
    write(tmp_path, "t.py", training(tail))
    found = assert_same(["t.py"], tmp_path)
    assert "torchcaliper" not in found.stderr


# what it leaves -------------------------------------------------------------------------------------------------


def test_pickles_and_copies(tmp_path: Path) -> None:
    tail = """
import copy, hashlib, io, pickle, random, sys

net, optimizer, losses = train()
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
optimizer.step()
scheduler.step()
whole = io.BytesIO()
torch.save({"net": net, "optimizer": optimizer, "scheduler": scheduler.state_dict()}, whole)
pickles = {
    "whole": whole.getvalue(), "net": pickle.dumps(net), "copy": pickle.dumps(copy.deepcopy(net)),
    "optimizer": pickle.dumps(optimizer), "state": pickle.dumps(optimizer.state_dict()),
    "class": pickle.dumps(Net), "function": pickle.dumps(F.cross_entropy), "module": pickle.dumps(nn.Module),
}
for name, data in pickles.items():
    assert b"torchcaliper" not in data, name
    if name in ("whole", "class", "function", "module"):
        # The others carry the addresses of storages.
        print(name, hashlib.sha1(data).hexdigest())
whole.seek(0)
again = torch.load(whole, weights_only=False)
print(sorted(vars(net)), sorted(vars(optimizer)), type(again["net"]), losses)
print(hashlib.sha1(torch.get_rng_state().numpy().tobytes()).hexdigest(), random.random() < 2)
print([name for name in dir(net) if "caliper" in name], net)
"""
    write(tmp_path, "t.py", training(tail))
    assert_same(["t.py"], tmp_path)


# its processes --------------------------------------------------------------------------------------------------


def test_loader_workers(tmp_path: Path) -> None:
    tail = """
import os, sys
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, index):
        return torch.tensor([index, os.getpid() == MAIN, len(torch.utils.data.get_worker_info().dataset)])

MAIN = os.getpid()
if __name__ == "__main__":
    net, *_ = train()
    for method in ("fork", "spawn", "forkserver"):
        torch.manual_seed(1)
        loader = DataLoader(Data(), batch_size=2, shuffle=True, num_workers=2 if method == "fork" else 1,
                            multiprocessing_context=method)
        for epoch in range(2 if method == "fork" else 1):
            print(method, [batch.tolist() for batch in loader])
"""
    write(tmp_path, "t.py", training(tail))
    assert assert_same(["t.py"], tmp_path).code == 0


def test_multiprocessing(tmp_path: Path) -> None:
    tail = """
import os, sys
import torch.multiprocessing as mp

def work(rank, queue):
    queue.put((rank, train()[2]))
    if rank == 1:
        sys.stdout.write("done\\n")

if __name__ == "__main__":
    queue = mp.get_context("spawn").Queue()
    mp.spawn(work, (queue,), nprocs=2)
    print(sorted(queue.get() for _ in range(2)))
    child = os.fork()
    if child == 0:
        print(train()[2], flush=True)
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(mp.get_context("fork").Pool(2).map(abs, [-1, -2]))
"""
    write(tmp_path, "t.py", training(tail))
    assert assert_same(["t.py"], tmp_path).code == 0


def test_replacing_itself(tmp_path: Path) -> None:
    tail = """
import os, sys
pid = str(os.getpid())
if len(sys.argv) == 1:
    print(train()[2], flush=True)
    os.execv(sys.executable, [sys.executable, __file__, pid])
print(sys.argv[1] == pid, train()[2])
"""
    write(tmp_path, "t.py", training(tail))
    assert_same(["t.py"], tmp_path)
    assert len(attached(tmp_path)) == 1


def test_children_of_a_program_without_torch(tmp_path: Path) -> None:
    write(tmp_path, "child.py", training("import os, sys\nprint(train()[2])\nsys.exit(6)\n"))
    parent = "import subprocess, sys\nprint(subprocess.run([sys.executable, 'child.py']).returncode, flush=True)\n"
    write(tmp_path, "parent.py", parent)
    assert_same(["parent.py"], tmp_path)
    assert len(attached(tmp_path)) == 1
    found = watched(["parent.py"], tmp_path, options=())
    assert "never imported" not in found.stderr
    assert "in 6 steps" in found.stderr


def test_a_watched_program_that_watches(tmp_path: Path) -> None:
    write(tmp_path, "child.py", training("import os\nprint(train()[2], os.environ['PYTHONPATH'].count('_boot'))\n"))
    program = "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'torchcaliper', 'run', 'child.py'])\n"
    write(tmp_path, "parent.py", program)
    found = watched(["parent.py"], tmp_path)
    assert found.stdout.endswith("1\n")
    assert len(runs(tmp_path)) == 2


# torchrun -------------------------------------------------------------------------------------------------------

RANKS = """
import os, sys
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
net = DistributedDataParallel(Net())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(torch.randn(4, 8)), torch.randint(3, (4,)))
    loss.backward()
    optimizer.step()
total = sum(p.sum().item() for p in net.parameters())
sys.stdout.write(f"{rank} {loss.item()} {total} {sys.argv}\\n")
sys.stdout.flush()
if "fail" in sys.argv and rank == 1:
    os._exit(11)
dist.barrier()
dist.destroy_process_group()
"""


def _torchrun(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> Outcome:
    """Run ranks, again if gloo aborted one of them while it left.

    On a machine with much to do, that happens to plain torchrun, too ("terminate called without an active exception").
    """
    for _ in range(3):
        shutil.rmtree(folder / ".torchcaliper", ignore_errors=True)
        outcome = execute(command, folder=folder, environment=environment)[0]
        if "terminate called without an active exception" not in outcome.stderr:
            break
    return outcome


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """A folder with a program for two ranks, and what comes out of it under plain torchrun."""
    folder = tmp_path_factory.mktemp("ranks")
    write(folder, "t.py", training(RANKS))
    command = [*TORCHRUN, "--standalone", "--nproc-per-node", "2", "t.py", "x"]
    return folder, _torchrun(command, folder).sorted()


def _entry_point(folder: Path, name: str, module: str) -> Path:
    """An executable as pip makes one for a console script."""
    main = f"from {module} import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    script = write(folder, name, f"#!{sys.executable}\nimport sys\n{main}")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("form", ["around", "module", "command"])
def test_torchrun(ranks: tuple[Path, Outcome], tmp_path: Path, form: str) -> None:
    folder, expected = ranks
    shutil.copy(folder / "t.py", tmp_path)
    arguments = ["--standalone", "--nproc-per-node", "2"]
    if form == "around":
        torchrun = _entry_point(tmp_path, "bin/torchrun", "torch.distributed.run")
        path = {"PATH": f"{torchrun.parent}{os.pathsep}{os.environ['PATH']}"}
        found = _torchrun(caliper(["torchrun", *arguments, "t.py", "x"]), tmp_path, path)
    elif form == "module":
        command = [*TORCHRUN, *arguments, "-m", "torchcaliper", "run", *SILENT, "t.py", "x"]
        found = _torchrun(command, tmp_path)
    else:
        ours = _entry_point(tmp_path, "bin/torchcaliper", "torchcaliper.cli")
        program = [str(ours), "run", *SILENT, sys.executable, "-u", "t.py", "x"]
        found = _torchrun([*TORCHRUN, *arguments, "--no-python", *program], tmp_path)
    assert found.code == expected.code == 0, found.stderr
    assert found.sorted().stdout == expected.stdout
    # Around, the launcher of the ranks imports torch, too.
    assert len(attached(tmp_path)) == (3 if form == "around" else 2)


def test_torchrun_with_a_failing_rank(ranks: tuple[Path, Outcome], tmp_path: Path) -> None:
    folder, _ = ranks
    arguments = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "t.py", "fail"]
    shutil.copy(folder / "t.py", tmp_path)
    expected, found = both(arguments, tmp_path)
    assert found.code == expected.code == 1
    for outcome in (expected, found):
        assert "exitcode: 11" in outcome.stderr.replace(" ", "").replace("exitcode:11", "exitcode: 11")


# the way in -----------------------------------------------------------------------------------------------------


def test_sitecustomize_and_usercustomize_of_the_user(tmp_path: Path) -> None:
    customize = "import sys; print(__name__, __file__, __spec__.name, __name__ in sys.modules, sys.path)\n"
    write(tmp_path, "site/sitecustomize.py", customize + "VALUE = 1\n")
    write(tmp_path, "site/usercustomize.py", customize)
    write(tmp_path, "t.py", "import sitecustomize, sys; print(sitecustomize.VALUE, sitecustomize.__file__, sys.path)")
    # Virtual environments have no user site, so this is for the Python below ours, and needs no torch.
    python = getattr(sys, "_base_executable", sys.executable)
    ours = str(Path(torchcaliper.__file__).parents[1])
    environment = {"PYTHONPATH": os.pathsep.join([ours, str(tmp_path / "site")])}
    commands = [python, "t.py"], [python, "-m", "torchcaliper", "run", "--quiet", "t.py"]
    expected, found = execute(*commands, folder=tmp_path, environment=environment)
    # The launcher is a Python, too, and has run both before the program's own did.
    *before, last = expected.stdout.splitlines()
    assert found.stdout.splitlines()[-1] == last
    assert found.stdout.splitlines()[-1 - len(before) : -1] == before
    assert found.stderr == expected.stderr
    assert "usercustomize" in expected.stdout


@pytest.mark.parametrize(
    "content",
    [
        "raise ValueError('in sitecustomize')",
        "import not_there",
        "raise ImportError('of itself', name='sitecustomize')",
    ],
    ids=["raises", "imports-nothing", "is-no-module"],
)
def test_sitecustomize_of_the_user_that_fails(tmp_path: Path, content: str) -> None:
    write(tmp_path, "site/sitecustomize.py", content)
    write(tmp_path, "t.py", "import sys; print('sitecustomize' in sys.modules, sys.meta_path[-1])")
    expected, found = both(["t.py"], tmp_path, environment={"PYTHONPATH": _in_front(tmp_path / "site")})
    assert (found.code, found.stdout) == (expected.code, expected.stdout)
    # Once from the launcher, and once from the program.
    assert found.stderr == 2 * expected.stderr


def test_sitecustomize_of_the_user_that_imports_torch(tmp_path: Path) -> None:
    # Not in the launcher, which is started by -m.
    write(tmp_path, "site/sitecustomize.py", "import sys\nif sys.argv != ['-m']:\n    import torch\n")
    write(tmp_path, "t.py", training("import sys\nprint(train()[2], 'sitecustomize' in sys.modules)\n"))
    assert_same(["t.py"], tmp_path, environment={"PYTHONPATH": _in_front(tmp_path / "site")})
    assert len(attached(tmp_path)) == 1


def _in_front(folder: Path) -> str:
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))


def test_a_failing_watch_costs_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "torchcaliper"
    shutil.copytree(Path(torchcaliper.__file__).parent, broken, ignore=shutil.ignore_patterns("__pycache__"))
    (broken / "run" / "attach.py").write_text("def install():\n    raise RuntimeError('two\\nlines')\n")
    write(tmp_path, "t.py", training("print(train()[2])\n"))
    environment = {"PYTHONPATH": str(tmp_path / "broken")}
    expected, found = both(["t.py"], tmp_path, environment=environment)
    assert (found.code, found.stdout) == (expected.code, expected.stdout)
    assert found.stderr == "torchcaliper: could not attach (RuntimeError: two lines); going on unwatched\n"


def test_lazy_import_of_torch(tmp_path: Path) -> None:
    body = """
        import importlib.util, sys
        spec = importlib.util.find_spec("torch")
        print(type(spec.loader).__name__, spec.origin)
        loader = importlib.util.LazyLoader(spec.loader)
        spec.loader = loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["torch"] = module
        loader.exec_module(module)
        print(module.zeros(2).sum().item(), type(module.__loader__).__name__, sorted(vars(module.__loader__)))
    """
    write(tmp_path, "t.py", body)
    assert_same(["t.py"], tmp_path)
    assert len(attached(tmp_path)) == 1


def test_a_program_without_torch(tmp_path: Path) -> None:
    write(tmp_path, "t.py", "import os, sys\nprint('hello', flush=True)\nif os.fork() == 0: sys.exit(2)\nos.wait()\n")
    found = watched(["t.py"], tmp_path, options=("--format", "json", "--output", "report.json"))
    assert found == Outcome(0, "hello\n", "torchcaliper: torch was never imported: nothing to watch\n")
    report = document(tmp_path / "report.json")
    assert (report["subject"], report["findings"], report["summary"]["steps"]) == ("run", [], 0)
    assert_same(["t.py"], tmp_path)


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_interpreters_that_cannot_be_watched_say_so(tmp_path: Path, flag: str) -> None:
    write(tmp_path, "t.py", "print('hello')")
    found = watched([sys.executable, flag, "t.py"], tmp_path)
    assert (found.code, found.stdout) == (0, "hello\n")
    assert found.stderr.startswith(f"torchcaliper: cannot watch this program: python {flag} ")
    assert not runs(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no program given"),
        (["absent.py"], "no such script or command: absent.py"),
        (["absent-command"], "no such script or command: absent-command"),
        (["empty"], "empty is a directory without a __main__.py"),
        (["-m", "absent"], "no module named 'absent'"),
        (["-m", "package.absent"], "no module named 'package.absent'"),
        (["--select", "Z9", "t.py"], "'Z9'"),
        (["--fail-on", "much", "t.py"], "much"),
        (["--output", "absent/report", "t.py"], "no such directory"),
        (["--baseline", "absent.json", "t.py"], "absent.json"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    write(tmp_path, "t.py", "print('ran')")
    write(tmp_path, "package/__init__.py", "print('ran')")
    (tmp_path / "empty").mkdir()
    found = watched(words, tmp_path, options=())
    assert (found.code, found.stdout) == (2, "")
    assert said in found.stderr
    assert found.stderr.count("\n") == 1


def test_our_words_come_after_the_programs(tmp_path: Path) -> None:
    tail = "import atexit, sys\natexit.register(sys.stderr.write, 'goodbye\\n')\ntrain()\nraise ValueError('bad')\n"
    write(tmp_path, "t.py", training(tail))
    expected, found = both(["t.py"], tmp_path, options=("--ignore", SILENT[-1]))
    assert (found.code, found.stdout) == (expected.code, expected.stdout)
    assert found.stderr.startswith(expected.stderr)
    assert "6 steps" in found.stderr.removeprefix(expected.stderr)


def test_a_read_only_folder_is_no_obstacle(tmp_path: Path) -> None:
    write(tmp_path, "t.py", "print('hello')")
    # A file in the place of the folder, since root may write anywhere.
    (tmp_path / ".torchcaliper").write_text("")
    found = watched(["t.py"], tmp_path)
    assert (found.code, found.stdout) == (0, "hello\n")
    assert "keeping the run in" in found.stderr
