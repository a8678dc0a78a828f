"""The value of a loss on the CPU is read without an operator."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("value", [1.5, -3.0, 0.0, math.inf, math.nan])
def test_value_is_that_of_the_tensor(dtype: str, value: float) -> None:
    from torchcaliper.run.finiteness import is_certainly_bad, value_of

    number = torch.tensor([7.0, value], dtype=getattr(torch, dtype))[1]  # not at the beginning of its storage
    assert value_of(number) == pytest.approx(value, nan_ok=True)
    assert is_certainly_bad((number,)) is not math.isfinite(value)


def test_what_is_no_number_has_no_value() -> None:
    from torchcaliper.run.finiteness import value_of

    assert value_of(torch.ones(2)) is None
    assert value_of(torch.tensor(3)) is None
    assert value_of(torch.ones((), device="meta")) is None
    assert value_of(1.0) is None
    seen = []
    torch.func.vmap(lambda x: seen.append(value_of(x)) or x)(torch.ones(3))
    assert seen == [None]
