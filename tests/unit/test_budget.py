"""The budget of deep looks, on a clock of the test's own."""

from __future__ import annotations

import pytest

from torchcaliper.run import budget
from torchcaliper.run.budget import Budget


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budget, "perf_counter", clock)
    return clock


def train(kept: Budget, clock: Clock, steps: int, plain: float, look: float) -> list[int]:
    """Steps of a program; which of them were looked at."""
    looked = []
    for step in range(steps):
        deep = kept.step_begins(False)
        if deep:
            looked.append(step)
            kept.took(look / 2)
        clock.now += plain + (look if deep else 0.0)
        kept.step_ends()
    return looked


@pytest.mark.parametrize(
    ("plain", "look", "share"), [(1e-3, 5e-3, 0.10), (0.03, 0.01, 0.03), (10.0, 6.0, 0.03), (0.2, 2.0, 0.03)]
)
def test_looks_take_no_more_than_their_share(clock: Clock, plain: float, look: float, share: float) -> None:
    kept = Budget()
    first = train(kept, clock, 65, plain, look)
    assert first[:4] == [0, 1, 2, 3]
    begin = clock.now
    looked = train(kept, clock, 20_000, plain, look)
    assert looked
    assert len(looked) * look <= share * (clock.now - begin)


def test_looks_are_spaced_in_time(clock: Clock) -> None:
    kept = Budget()
    train(kept, clock, 65, 1e-3, 1e-5)
    looked = train(kept, clock, 60_000, 1e-3, 1e-5)
    assert len(looked) <= 60 / budget._GAP
    assert len(looked) >= 20


def test_no_share_leaves_the_first_steps(clock: Clock) -> None:
    assert train(Budget(0.0), clock, 1000, 0.1, 0.0) == [0, 1, 2, 3, 4, 8, 16, 32, 64]


def test_full_looks_at_every_step(clock: Clock) -> None:
    assert train(Budget(1.0), clock, 50, 0.1, 5.0) == list(range(50))


def test_a_suspicion_is_followed_at_once(clock: Clock) -> None:
    kept = Budget(0.0)
    train(kept, clock, 100, 0.1, 0.0)
    assert kept.step_begins(True)
    assert kept.deep
    kept.step_ends()
    assert not kept.step_begins(False)


def test_a_look_costs_at_least_what_our_own_timers_saw(clock: Clock) -> None:
    kept = Budget()
    train(kept, clock, 65, 0.1, 0.0)
    before = kept.spent
    assert kept.step_begins(True)
    assert kept.took(0.5)
    kept.step_ends()
    assert kept.spent == pytest.approx(before + 0.5)
    assert not kept.took(0.5)


def test_a_step_that_is_slow_for_reasons_of_its_own_is_no_cost(clock: Clock) -> None:
    kept = Budget()
    train(kept, clock, 65, 0.1, 0.0)
    before = kept.spent
    assert kept.step_begins(True)
    kept.took(0.01)
    clock.now += 60.0
    kept.step_ends()
    assert kept.spent == pytest.approx(before + 0.03)


def test_forwards_of_one_step_are_one_look(clock: Clock) -> None:
    kept = Budget(0.0)
    for _ in range(5):
        assert kept.step_begins(False)
    kept.step_ends()
    assert kept.looks == 1
