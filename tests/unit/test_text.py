"""Messages: one thing is told in the singular."""

from __future__ import annotations

import pytest

from torchcaliper.findings import Text


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("{n} times", {"n": 1}, "1 time"),
        ("{n} times", {"n": 11}, "11 times"),
        ("{n} parameters are in no optimizer", {"n": 1}, "1 parameter is in no optimizer"),
        ("{n} batches of {m} losses", {"n": 1, "m": 1}, "1 batch of 1 loss"),
        ("{n} backward passes were seen", {"n": 1}, "1 backward pass was seen"),
        ("{n} trainable parameters have", {"n": 1}, "1 trainable parameter has"),
        ("step {n} has", {"n": 1}, "step 1 has"),
        ("of {n:,} steps", {"n": 1}, "of 1 step"),
        ("{share:.2f} times", {"share": 1.0}, "1.00 times"),
        ("{yes} values", {"yes": True}, "True values"),
        ("layer1 layers", {}, "layer1 layers"),
    ],
)
def test_counted(template: str, values: dict[str, object], expected: str) -> None:
    assert Text(template, values).render() == expected
