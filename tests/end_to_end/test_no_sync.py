"""The always-on probes never make the program wait for its device.

A device is waited for when Python or the host needs a value of a tensor: `.item()`, `bool(tensor)`, `.tolist()`,
`torch.equal`, `.cpu()`, `nonzero`. On the CPU most of these are operators too, which the profiler sees whoever calls
them, the watch included; the few that are none there (`.tolist()`, `.numpy()`) are counted where they are called. The
counts of the steps after the first ones, which are looked at closely, must be the same with and without the watch.

On a GPU it is unmeasured: that the same calls are the ones that wait there is torch's documentation, not our figure
(https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_sync_debug_mode.html).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness import SILENT, both, execute, python, write

pytest.importorskip("torch")

#: `{body}` trains one step; steps 40 to 59 are counted
PROGRAM = """
    import collections, json, time
    import torch
    from torch import nn
    from torch.nn import functional as F

    calls = collections.Counter()

    def counted(name):
        original = getattr(torch.Tensor, name)
        def call(*args, **kwargs):
            calls[name] += 1
            return original(*args, **kwargs)
        setattr(torch.Tensor, name, call)

    torch.manual_seed(0)
    {setup}
    def train(steps):
        for _ in range(steps):
            {body}
    train(40)
    for name in ("tolist", "numpy", "__array__", "item", "cpu"):
        counted(name)
    time.sleep(1.1)  # the record is judged and saved at most once a second: now it is in the steps that are counted
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        train(20)
    calls.update({{event.key: event.count for event in profile.key_averages() if event.key.startswith("aten::")}})
    print(json.dumps(calls))
"""

NET = "model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))"
BATCH = "x, y = torch.randn(4, 8), torch.randint(3, (4,))"

#: (what is made before the loop, what is done in a step)
PROGRAMS = {
    "plain": (
        [NET, "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)"],
        [BATCH, "optimizer.zero_grad()", "F.cross_entropy(model(x), y).backward()", "optimizer.step()"],
    ),
    "everything at once": (
        [
            NET,
            "import copy; average = copy.deepcopy(model)",
            "optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)",
            "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=60)",
            "scaler = torch.amp.GradScaler('cpu')",
            "total = torch.zeros(1)",
        ],
        [
            BATCH,
            "optimizer.zero_grad()",
            "with torch.autocast('cpu', dtype=torch.bfloat16): loss = F.cross_entropy(model(x), y)",
            "scaler.scale(loss).backward()",
            "scaler.unscale_(optimizer)",
            "nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            "scaler.step(optimizer); scaler.update(); scheduler.step()",
            "total.add_(loss.detach())",
            "with torch.no_grad(): [a.lerp_(p, 0.1) for a, p in zip(average.parameters(), model.parameters())]",
            "model.eval()",
            "with torch.no_grad(): (model(x).argmax(1) == y).float().mean().item()",
            "model.train()",
        ],
    ),
    "never cleared, and kept with its graph": (
        [NET, "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)", "losses = []"],
        [BATCH, "losses.append(F.cross_entropy(model(x), y))", "losses[-1].backward()", "optimizer.step()"],
    ),
    "evaluated without eval and with gradients": (
        [NET, "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)"],
        [
            BATCH,
            "optimizer.zero_grad()",
            "F.cross_entropy(model(x), y).backward()",
            "optimizer.step()",
            "(model(x).argmax(1) == y).float().mean()",
        ],
    ),
}


def program(setup: list[str], body: list[str]) -> str:
    return PROGRAM.format(setup="\n    ".join(setup), body="\n            ".join(body))


@pytest.mark.parametrize("name", PROGRAMS)
def test_steady_steps_have_no_operators_but_the_programs(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, "train.py", program(*PROGRAMS[name]))
    outcomes = both([str(file)], tmp_path, options=(*SILENT, "--overhead", "0"))
    assert [outcome.code for outcome in outcomes] == [0, 0], outcomes  # the profiler itself writes to stderr
    plain, watched = (json.loads(outcome.stdout) for outcome in outcomes)
    assert sum(plain.values()) > 20 * 10  # the counting works
    # More than what was promised: not only none that waits, but no operator at all is added.
    assert watched == plain


def test_the_count_sees_what_waits(tmp_path: Path) -> None:
    """The yardstick itself: each way to wait for a device shows in the count."""
    body = [
        "x[0].item(); float(x[0]); bool(x[0]); torch.equal(x, x); x.nonzero()",
        "x.to('cpu', copy=True); x.tolist(); x.numpy(); x.cpu()",
    ]
    file = write(tmp_path, "train.py", program(["x = torch.ones(3)"], body))
    counted = json.loads(execute(python([str(file)]), folder=tmp_path)[0].stdout)
    assert counted["aten::_local_scalar_dense"] == 20 * 3
    for name in ("aten::is_nonzero", "aten::equal", "aten::nonzero", "aten::_to_copy", "tolist", "numpy", "cpu"):
        assert counted[name] == 20, name
