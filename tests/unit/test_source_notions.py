"""What source rules are made of: reach of graphs, what optimizers hold, loaders, metrics, filters over names."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchcaliper.source.datasets import last_batch, length_of, loader_option, training_loaders
from torchcaliper.source.file import parse
from torchcaliper.source.graphs import reach
from torchcaliper.source.metrics import FALLS, GROWS, sense
from torchcaliper.source.project import Project
from torchcaliper.source.reading import read_program
from torchcaliper.source.selections import NotKnown, named_parameters, selected
from torchcaliper.source.steps import backwards, held_by_optimizer, loss_of, steps_of
from torchcaliper.source.trace import Reading, Trace
from torchcaliper.source.values import Collection, Object, Value

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def read(text: str) -> Reading:
    path = Path("/nowhere/program.py")
    file = parse(str(path), (HEAD + text).encode())
    project = Project()
    project.add(path, file)
    return read_program(project, file)


def program(text: str) -> Trace:
    return read(text).traces[0]


def named(trace: Trace, name: str) -> Value:
    """The value that `show(name)` is called with."""
    event = next(e for e in trace.named("print") if e.arguments.keywords.get("end") is None)
    return event.arguments.positional[0]


@pytest.mark.parametrize(
    ("expression", "parameters", "cuts", "unknown"),
    [
        ("net(x).sum()", True, 0, False),
        ("net(x).detach().sum()", False, 1, False),
        ("torch.tensor(net(x).sum().item())", False, 1, False),
        ("net(x).argmax(1).float().mean()", False, 1, False),
        ("x.sum()", False, 0, False),
        ("other(net(x))", True, 0, True),
        ("net(x).sum() + net(x).detach().sum()", True, 1, False),
    ],
)
def test_reach_of_a_graph(expression: str, parameters: bool, cuts: int, unknown: bool) -> None:
    trace = program(f"from elsewhere import other\nnet = nn.Linear(2, 2)\nx = torch.randn(3, 2)\nprint({expression})\n")
    found = reach(named(trace, "print"))
    assert (found.parameters, len(found.cuts), found.unknown) == (parameters, cuts, unknown)


def test_what_no_grad_does_not_record_leads_nowhere() -> None:
    trace = program("net = nn.Linear(2, 2)\nwith torch.no_grad():\n    y = net(torch.randn(3, 2))\nprint(y.sum())\n")
    found = reach(named(trace, "print"))
    assert not found.parameters
    assert len(found.unrecorded) == 1


@pytest.mark.parametrize(
    "given",
    [
        "net.parameters()",
        "list(net.parameters())",
        "[p for p in net.parameters() if p.requires_grad]",
        "[{'params': net.parameters(), 'lr': 1.0}]",
        "filter(lambda p: p.requires_grad, net.parameters())",
    ],
)
def test_what_an_optimizer_holds(given: str) -> None:
    trace = program(
        "net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\n"
        f"opt = torch.optim.SGD({given}, lr=0.1)\n"
        "for _ in range(3):\n    opt.step()\n"
    )
    (step,) = steps_of(trace)
    held = held_by_optimizer(step.optimizer)
    assert held.known
    assert [n.type_name for n in held.networks] == ["torch.nn.Sequential"]


def test_what_is_not_registered_is_not_held() -> None:
    trace = program(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.plain = [nn.Linear(2, 2)]\n"
        "        self.kept = nn.ModuleList([nn.Linear(2, 2)])\n"
        "net = Net()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    opt.step()\n"
    )
    (step,) = steps_of(trace)
    network = held_by_optimizer(step.optimizer).networks[0]
    plain, kept = network.attributes["plain"], network.attributes["kept"]
    assert isinstance(plain, Collection)
    assert isinstance(kept, Object)
    parts = held_by_optimizer(step.optimizer).parts
    assert id(plain.items[0]) not in parts
    assert id(kept) in parts


@pytest.mark.parametrize(
    ("loader", "rest"),
    [
        ("DataLoader(TensorDataset(torch.randn(33, 4)), batch_size=8)", 1),
        ("DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=8)", 0),
        ("DataLoader(TensorDataset(torch.randn(33, 4)), batch_size=8, drop_last=True)", None),
        ("DataLoader(TensorDataset(torch.randn(33, 4)), **options)", None),
        ("DataLoader(random_split(TensorDataset(torch.randn(40, 4)), [29, 11])[0], 4)", 1),
        ("DataLoader(Own(), batch_size=7)", 3),
    ],
)
def test_the_last_batch_of_a_loader(loader: str, rest: int | None) -> None:
    trace = program(
        "from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split\n"
        "from settings import options\n"
        "class Own(Dataset):\n"
        "    def __init__(self):\n        self.x = torch.zeros(10, 2)\n"
        "    def __len__(self):\n        return len(self.x)\n"
        "    def __getitem__(self, i):\n        return self.x[i]\n"
        f"net = nn.Linear(4, 1)\nfor batch in {loader}:\n    net(batch[0]).sum().backward()\n"
    )
    ((made, _),) = training_loaders(trace).values()
    assert last_batch(made) == rest
    if rest is not None:
        assert length_of(loader_option(made, "dataset")) is not None


@pytest.mark.parametrize(
    ("expression", "way"),
    [
        ("(net(x).argmax(1) == y).float().mean().item()", GROWS),
        ("1 - (net(x).argmax(1) == y).float().mean()", FALLS),
        ("F.cross_entropy(net(x), y).item()", FALLS),
        ("-F.cross_entropy(net(x), y)", GROWS),
        ("((net(x) - x) ** 2).mean().sqrt()", FALLS),
        ("net(x).mean()", None),
        ("(x == 0).float().mean()", None),
    ],
)
def test_the_sense_of_a_metric(expression: str, way: str | None) -> None:
    trace = program(
        f"net = nn.Linear(2, 2)\nx = torch.randn(3, 2)\ny = torch.zeros(3, dtype=torch.long)\nprint({expression})\n"
    )
    assert sense(named(trace, "print")) == way


NETWORK = (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n"
    "        self.inp, self.ln = nn.Linear(4, 8), nn.LayerNorm(8)\n"
    "        self.body = nn.Sequential(nn.Conv1d(1, 2, 3, bias=False), nn.BatchNorm1d(2))\n"
    "net = Net()\n"
)


def net_of(trace: Trace) -> Object:
    """The instance of the program's own class."""
    made = next(e.result for e in trace.named("make") if isinstance(e.result, Object) and e.result.type_name == "Net")
    assert isinstance(made, Object)
    return made


def test_the_names_of_parameters() -> None:
    trace = program(NETWORK + "print(net)\n")
    network = named(trace, "print")
    assert isinstance(network, Object)
    assert [(p.name, p.dims, p.is_small) for p in named_parameters(network)] == [
        ("inp.weight", 2, False),
        ("inp.bias", 1, True),
        ("ln.weight", 1, True),
        ("ln.bias", 1, True),
        ("body.0.weight", 3, False),
        ("body.1.weight", 1, True),
        ("body.1.bias", 1, True),
    ]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("'bias' in n", 3),
        ("any(s in n for s in skip)", 5),
        ("not any(s in n for s in skip)", 2),
        ("p.ndim >= 2", 2),
        ("p.dim() < 2 or n.endswith('bias')", 5),
        ("n.startswith(('inp', 'body')) and len(p.shape) == 1", 3),
    ],
)
def test_filters_over_names_and_shapes(condition: str, count: int) -> None:
    text = (
        NETWORK
        + f"skip = ['bias', 'ln.weight', '1.weight']\nprint([p for n, p in net.named_parameters() if {condition}])\n"
    )
    trace = program(text)
    chosen = named(trace, "print")
    assert isinstance(chosen, Collection)
    assert chosen.place is not None
    every = list(named_parameters(net_of(trace)))
    assert len(selected(chosen.place.file, chosen.place.node, every)) == count


def test_a_filter_that_is_not_understood_is_said_to_be_so() -> None:
    trace = program(NETWORK + "print([p for n, p in net.named_parameters() if check(n)])\n")
    chosen = named(trace, "print")
    assert chosen.place is not None
    with pytest.raises(NotKnown):
        selected(chosen.place.file, chosen.place.node, list(named_parameters(net_of(trace))))


def test_a_closure_given_to_step_is_followed() -> None:
    trace = program(
        "net = nn.Linear(2, 1)\nopt = torch.optim.LBFGS(net.parameters())\n"
        "def closure():\n    opt.zero_grad()\n    loss = net(torch.ones(1, 2)).sum()\n    loss.backward()\n"
        "    return loss\n"
        "for _ in range(3):\n    opt.step(closure)\n"
    )
    (backward,) = backwards(trace)
    assert backward.context.loop is not None
    assert reach(loss_of(backward)).parameters
