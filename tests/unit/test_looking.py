"""explain, graph and look on small tensors."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import torch
from torch import nn

import torchcaliper


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.unused = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.a(x))
        h = h.view(2, -1, 6).transpose(0, 1)
        h = h + 1
        result: torch.Tensor = self.b(h)
        return result


def test_importing_imports_no_torch() -> None:
    code = "import sys, torchcaliper, torchcaliper.testing, torchcaliper.testing.plugin; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_explain_a_view() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    part = base.t()[1:3]
    part += 0
    known = torchcaliper.explain(part)
    assert (known.shape, known.strides, known.offset) == ((2, 3), (1, 4), 1)
    assert known.storage == base.untyped_storage().data_ptr()
    assert (known.storage_bytes, known.bytes, known.contiguous, known.is_view) == (48, 24, False, True)
    assert known.version == base._version > 0
    assert [(alias.name, alias.whole) for alias in known.aliases if alias.name == "base"] in (
        [("base", True)],
        [("base", False)],
    )
    assert "`base` [3, 4]" in str(known)


def test_explain_why_there_is_no_gradient() -> None:
    net = Net()
    x = torch.randn(4, 4)
    hidden = net.a(x)
    assert "does not require grad" in torchcaliper.explain(x).grad
    assert "int64 has no gradient" in torchcaliper.explain(torch.tensor(3)).grad
    assert "it is no leaf (AddmmBackward0 made it)" in torchcaliper.explain(hidden).grad
    assert "no backward has reached it" in torchcaliper.explain(net.a.weight).grad
    hidden.retain_grad()
    assert "retain_grad() was called" in torchcaliper.explain(hidden).grad
    hidden.sum().backward()
    assert torchcaliper.explain(hidden).grad == "there: [4, 6] float32"
    assert torchcaliper.explain(net.a.weight).has_grad
    with torch.inference_mode():
        inner = net.a(x)
    assert "inference_mode" in torchcaliper.explain(inner).grad
    assert "expanded" in torchcaliper.explain(torch.zeros(2, 1).expand(2, 5)).memory_format
    assert torchcaliper.explain(torch.zeros(2, 3).t()).memory_format == "axes permuted"


def test_graph() -> None:
    net = Net()
    net.b.bias.requires_grad_(False)
    with torchcaliper.watch():
        loss = net(torch.randn(4, 4)).mean()
    known = torchcaliper.graph(loss, net)
    assert known.reached == ["b.weight", "a.bias", "a.weight"]
    assert known.not_reached == ["unused.weight", "unused.bias"]
    assert known.frozen == ["b.bias"]
    assert known.nodes[0].name == "Mean"
    assert any("test_looking.py" in node.place for node in known.nodes)
    assert "not reached: unused.weight" in str(known)
    picture = ElementTree.fromstring(known.svg())
    assert picture.tag.endswith("svg")
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}rect"))) == len(known.nodes)
    loss.backward()
    assert "no graph" in str(torchcaliper.graph(torch.zeros(2)))


def test_look() -> None:
    net, x = Net(), torch.randn(4, 4)
    state = torch.get_rng_state()
    look = torchcaliper.look(net, x)
    assert torch.equal(state, torch.get_rng_state())
    assert net.a.weight.grad is None
    assert [row.operator for row in look.rows] == ["linear", "relu", "view", "transpose", "add", "linear"]
    linear, _, view, transpose, _, _ = look.rows
    assert (linear.memory, linear.bytes, linear.grad_fn) == ("new", 96, "AddmmBackward0")
    assert (view.memory, view.bytes) == ("view of input 0", 0)
    assert not transpose.outputs[0].contiguous
    assert linear.backward_seconds is not None
    assert "h = torch.relu(self.a(x))" in str(look)
    assert json.loads(look.to_json())["rows"][0]["operator"] == "linear"


def test_look_at_a_function_that_writes_in_place() -> None:
    def halve(x: torch.Tensor) -> torch.Tensor:
        x.mul_(0.5)
        return x[0]

    look = torchcaliper.look(halve, torch.ones(2, 2), backward=False)
    assert [(row.operator, row.memory) for row in look.rows] == [("mul_", "input 0"), ("[...]", "view of input 0")]
