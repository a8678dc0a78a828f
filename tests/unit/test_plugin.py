"""`pytest --caliper`, run by a real pytest."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

#: an installation has it from its entry point
_REGISTERED = any(e.value == "torchcaliper.testing.plugin" for e in entry_points(group="pytest11"))
_PLUGIN = () if _REGISTERED else ("-p", "torchcaliper.testing.plugin")

_TRAINING = """
import pytest
import torch
from torch import nn

def train(clear):
    torch.manual_seed(0)
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        if clear:
            optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()

def test_sound():
    train(True)

def test_faulty():
    train(False)

@pytest.mark.caliper_ignore("A103")
def test_ignored():
    train(False)

def test_expected():
    with pytest.raises(RuntimeError):
        torch.zeros(3, requires_grad=True).backward()

@pytest.mark.xfail(strict=True)
def test_raises():
    nn.Linear(4, 2)(torch.zeros(3, 4)).backward()
"""


def test_findings_fail_a_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_TRAINING)
    result = pytester.runpytest_subprocess(*_PLUGIN, "--caliper", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3, failed=1, xfailed=1)
    result.stdout.fnmatch_lines(["*torchcaliper: 1 finding*", "*A103 gradients-never-cleared*"])
    result.stdout.fnmatch_lines(["*= torchcaliper =*", "*::test_faulty", "*test_findings_fail_a_test.py:*error A103*"])
    result.stdout.fnmatch_lines(["*::test_raises", "*error A116*"])


def test_report_fails_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_TRAINING)
    result = pytester.runpytest_subprocess(*_PLUGIN, "--caliper=report", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=4, xfailed=1)
    result.stdout.fnmatch_lines(["*error A103*"])


def test_off_it_does_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test(): assert 'torch' not in sys.modules")
    pytester.runpytest_subprocess(*_PLUGIN, "-p", "no:cacheprovider").assert_outcomes(passed=1)
    pytester.runpytest_subprocess(*_PLUGIN, "--caliper", "-p", "no:cacheprovider").assert_outcomes(passed=1)
