"""Which reshapes exchange axes, and which only split and merge them."""

from __future__ import annotations

import pytest

from torchcaliper.run.regrouping import exchanged, is_torn


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ((32, 9, 16), (9, 32, 16), "exchanged"),
        ((32, 12, 5, 5), (32, 25, 12), "exchanged"),
        ((32, 64, 16, 16), (32, 256, 64), "exchanged"),
        ((32, 49, 12), (32, 12, 7, 7), "exchanged"),
        ((8, 32, 32, 3), (8, 3, 32, 32), "exchanged"),
        ((4, 20, 48), (4, 4, 20, 12), "heads"),
        ((4, 20, 48), (16, 20, 12), "heads"),
        ((6, 5, 12, 12), (864, 5), "rows"),
        ((2, 20, 18), (20, 36), "batch"),
    ],
)
def test_exchanges(before: tuple[int, ...], after: tuple[int, ...], kind: str) -> None:
    assert exchanged(before, after, batch=20 if kind == "batch" else before[0]) == kind


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((4, 20, 48), (4, 20, 4, 12)),  # heads
        ((4, 20, 48), (80, 48)),
        ((80, 48), (4, 20, 48)),
        ((4, 16, 16), (4, 256)),
        ((4, 8, 8, 16), (4, 2, 4, 2, 4, 16)),  # windows
        ((4, 2, 2, 4, 4, 16), (16, 16, 16)),
        ((4, 16, 9, 9), (4, 4, 4, 9, 9)),  # channel shuffle
        ((4, 3, 9, 2, 9, 2), (4, 3, 18, 18)),  # pixel shuffle
        ((8, 19, 19, 84), (8, 1444, 21)),  # boxes of a detector
        ((1, 32, 16), (32, 16)),
        ((32, 1, 16), (1, 32, 16)),
        ((4, 2, 20, 18), (8, 20, 18)),
        ((4, 128), (4, 8, 4, 4)),
        ((16, 16, 3), (16, 16, 3)),
    ],
)
def test_splits_and_merges(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert exchanged(before, after, batch=before[0]) == ""


def test_torn() -> None:
    assert is_torn((32, 12, 5, 5), (32, 25, 12))
    assert not is_torn((4, 20, 48), (4, 20, 4, 12))
    assert not is_torn((32, 64, 16, 16), (32, 256, 64))
