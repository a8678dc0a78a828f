"""Which forwards are surveyed: in these the modules called inside are listed."""

from __future__ import annotations

#: forwards with grad of each root that are surveyed from the start
FIRST = 2


class Surveys:
    """How many surveyed forwards a root still has before it."""

    def __init__(self) -> None:
        self._left: dict[int, int] = {}

    def take(self, root: int) -> bool:
        """Whether the forward that begins is surveyed."""
        left = self._left.get(root, FIRST)
        self._left[root] = max(left - 1, 0)
        return left > 0

    def again(self) -> None:
        """Survey every known root once more: its parameters may have changed."""
        for root, left in self._left.items():
            self._left[root] = max(left, 1)
