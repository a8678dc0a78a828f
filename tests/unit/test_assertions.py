"""The assertions of torchcaliper.testing: right, wrong, and without a trace."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcaliper.testing import (
    assert_causal,
    assert_deterministic_eval,
    assert_gradients,
    assert_independent_samples,
    assert_trains,
)
from torchcaliper.testing.untouched import untouched


class Attention(nn.Module):
    def __init__(self, causal: bool, axis: int = -1) -> None:
        super().__init__()
        self.causal, self.axis = causal, axis
        self.embed, self.mix, self.head = nn.Embedding(20, 8), nn.Linear(8, 8), nn.Linear(8, 20)
        self.calls = 0

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        x = self.embed(tokens) if not tokens.is_floating_point() else tokens
        scores = self.mix(x) @ x.transpose(1, 2)
        if self.causal:
            length = x.shape[1]
            scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), float("-inf"))
        result: torch.Tensor = self.head(torch.softmax(scores, self.axis) @ x)
        return result


def state(model: nn.Module, versions: bool = True) -> list[Any]:
    tensors = [*model.parameters(), *model.buffers()]
    return [
        *[
            (id(t), versions and t._version, t.tolist(), None if t.grad is None else (id(t.grad), t.grad.tolist()))
            for t in tensors
        ],
        [m.training for m in model.modules()],
        torch.get_rng_state().tolist(),
        random.getstate(),
        {n: v for n, v in vars(model).items() if not n.startswith("_")},
    ]


@pytest.mark.parametrize("x", [torch.randint(0, 20, (2, 6)), torch.randn(2, 6, 8)], ids=["tokens", "features"])
def test_causal(x: torch.Tensor) -> None:
    torch.manual_seed(0)
    model = Attention(True)
    model.head.weight.grad = torch.ones(20, 8)
    before = state(model)
    assert_causal(model, x)
    assert state(model) == before
    with pytest.raises(AssertionError, match=r"not causal: the output at position \d+ changes by"):
        assert_causal(Attention(False), x)


def test_causal_needs_positions() -> None:
    with pytest.raises(ValueError, match="no dimension 1"):
        assert_causal(nn.Linear(4, 3), torch.randn(2, 4))


def test_independent_samples() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    x = torch.randn(5, 4)
    before = state(net)
    assert_independent_samples(net, x)
    assert state(net) == before

    class Mixed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(x, dim=0)

    with pytest.raises(AssertionError, match="only sample 0 of the batch is changed"):
        assert_independent_samples(Mixed(), torch.randn(5, 4))


def test_deterministic_evaluation() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 2))
    x = torch.randn(3, 4)
    before = state(net)
    assert_deterministic_eval(net, x)
    assert state(net) == before

    class Careless(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.dropout(x)

    with pytest.raises(AssertionError, match="not deterministic in evaluation mode"):
        assert_deterministic_eval(Careless(), torch.randn(3, 40))

    class Counting(nn.BatchNorm1d):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.running_mean += 1  # type: ignore[operator]
            return x

    with pytest.raises(AssertionError, match="changes buffers: running_mean"):
        assert_deterministic_eval(Counting(3), torch.randn(3, 3))


def test_trains() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3)).eval()
    batch = torch.randn(16, 4), torch.randint(0, 3, (16,))
    net[0].weight.requires_grad_(False)
    before = state(net, versions=False)
    assert_trains(net, batch, F.cross_entropy, steps=40, lr=1e-2)
    assert state(net, versions=False) == before
    with pytest.raises(AssertionError, match=r"no gradient reaches 2 of 4 parameters: 0.weight, 0.bias"):
        assert_trains(Cut(), batch, F.cross_entropy)
    with pytest.raises(AssertionError, match="does not fall"):
        assert_trains(net, batch, lambda output, y: output.sum() * 1e-9 + 1)
    with pytest.raises(AssertionError, match=r"a tensor \[16\]"):
        assert_trains(net, batch, lambda output, y: F.cross_entropy(output, y, reduction="none"))
    with pytest.raises(AssertionError, match="no graph"):
        assert_trains(net, batch, lambda output, y: F.cross_entropy(output, y).detach())


class Cut(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.add_module("0", nn.Linear(4, 4))
        self.head = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.head(self.get_submodule("0")(x).detach())
        return result


def test_gradients() -> None:
    assert_gradients(lambda a, b: (a * b).tanh(), (torch.randn(3, 4), torch.randn(4)))
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(0.5), nn.LayerNorm(8))
    x = torch.randn(2, 4)
    before = state(net)
    assert_gradients(net, x)
    assert state(net) == before

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            return gradient * ctx.saved_tensors[0]

    with pytest.raises(AssertionError, match="wrong gradient of input 0"):
        assert_gradients(Wrong.apply, torch.randn(5))
    with pytest.raises(AssertionError, match="the graph is cut"):
        assert_gradients(lambda a, b: a + b.detach(), (torch.randn(5), torch.randn(5)))


def test_all_is_put_back_after_a_failure() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    before = state(net)

    def spoil() -> None:
        with untouched(net):
            net.double().eval()
            net[0].weight.data.zero_()
            net[0].bias = nn.Parameter(torch.zeros(4))
            net.extra = 1  # type: ignore[assignment]
            torch.randn(3)
            random.random()
            raise KeyError("stop")

    with pytest.raises(KeyError):
        spoil()
    assert state(net) == before
