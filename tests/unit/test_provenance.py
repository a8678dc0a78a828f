"""What a value is, from the nodes that produced it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from torchcaliper.run.provenance import Origin, is_softmax_by_hand, origin  # noqa: E402


def of(make: Callable[[Tensor], Tensor]) -> Origin | None:
    return origin(make(torch.randn(4, 3, requires_grad=True)).grad_fn)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda x: x.softmax(1), "probabilities"),
        (lambda x: F.softmax(x, dim=-1).transpose(0, 1).reshape(-1)[2:], "probabilities"),
        (lambda x: x.log_softmax(1).exp(), "probabilities"),
        (lambda x: x.exp() / x.exp().sum(1, keepdim=True), None),  # two exponentials: their sums need not agree
        (lambda x: (e := x.exp()) / e.sum(1, keepdim=True), "probabilities"),
        (lambda x: (e := (x - x.max()).exp()) / e.sum(1)[:, None], "probabilities"),
        (lambda x: x.softmax(1).clamp(1e-6) + 1e-8, "probabilities"),
        (lambda x: torch.where(x > 0, x.softmax(1), torch.zeros(())), "probabilities"),
        (lambda x: x.softmax(1).log(), "log-probabilities"),
        (lambda x: F.log_softmax(x, 1).gather(1, torch.zeros(4, 1, dtype=torch.long)), "log-probabilities"),
        (lambda x: x.sigmoid().squeeze(), "sigmoid"),
        (lambda x: F.logsigmoid(x), "log-sigmoid"),
        (lambda x: x.sigmoid().log(), "log-sigmoid"),
        (lambda x: x.softmax(1) @ torch.ones(3, 2), None),
        (lambda x: x.softmax(1) * 3, None),
        (lambda x: 1 - x.sigmoid(), None),
        (lambda x: x.tanh(), None),
        (lambda x: x / x.norm(), None),
    ],
)
def test_kinds(make: Callable[[Tensor], Tensor], kind: str | None) -> None:
    found = of(make)
    if kind is None:
        assert found is None
    else:
        assert found is not None
        assert found.kind == kind


def test_the_dimension_is_signed() -> None:
    found = of(lambda x: x.softmax(-1))
    assert found is not None
    assert found.dim in (1, -1)


def test_a_guard_is_noticed() -> None:
    plain, guarded = of(lambda x: x.softmax(1)), of(lambda x: x.softmax(1) + 1e-8)
    assert plain is not None
    assert guarded is not None
    assert not plain.guarded
    assert guarded.guarded


def test_a_leaf_has_no_kind() -> None:
    assert origin(None) is None
    assert of(lambda x: x * 1) is None


def test_softmax_by_hand() -> None:
    x = torch.randn(4, 3, requires_grad=True)
    e = x.exp()
    assert is_softmax_by_hand((e / e.sum(1, keepdim=True)).grad_fn)
    assert not is_softmax_by_hand((e / x.sum(1, keepdim=True)).grad_fn)
    assert not is_softmax_by_hand((e / 2).grad_fn)
