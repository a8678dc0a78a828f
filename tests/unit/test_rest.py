"""Resting in quick steps: what is left out, and what ends it."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import nn

from torchcaliper.run import rest
from torchcaliper.run.rest import Rest
from torchcaliper.run.watching import watch


class Session:
    """As much of a session as a rest asks for."""

    def __init__(self) -> None:
        self.step = 0
        self.thread = threading.get_ident()
        self.allowed = True
        self.ended: list[object] = []

    def may_rest(self) -> bool:
        return self.allowed

    def resumed(self, optimizer: object) -> None:
        self.ended.append(optimizer)


def stepped(session: Session, resting: Rest, times: int, *keys: tuple[Any, ...]) -> int:
    """Steps of a program that makes these calls; how many calls were left out."""
    left_out = 0
    for _ in range(times):
        left_out += sum(resting.covers(key) for key in keys)
        session.step += 1
        resting.stepped("optimizer")
    return left_out


def at_rest() -> tuple[Session, Rest]:
    session = Session()
    resting = Rest(session)  # type: ignore[arg-type]
    while not resting.on:
        stepped(session, resting, 1, ("forward", 1), ("backward", 2))
        assert session.step < 1000
    return session, resting


def test_first_steps_are_all_followed() -> None:
    session, _ = at_rest()
    assert session.step >= rest._FIRST + rest._FOLLOWED


def test_usual_calls_are_left_out_for_a_while() -> None:
    session, resting = at_rest()
    round_of = rest._FOLLOWED + rest._LEFT_OUT_OF_SHORT
    left_out = stepped(session, resting, 10 * round_of, ("forward", 1), ("backward", 2))
    assert left_out == 2 * 10 * rest._LEFT_OUT_OF_SHORT
    assert session.ended == ["optimizer"] * 10


def test_a_new_call_ends_the_rest() -> None:
    session, resting = at_rest()
    assert resting.covers(("forward", 1))
    assert not resting.covers(("forward", 3))
    assert not resting.on
    assert session.ended == [None]
    assert not resting.covers(("forward", 1))


def test_another_thread_ends_the_rest() -> None:
    session, resting = at_rest()
    session.thread += 1
    assert not resting.covers(("forward", 1))
    assert not resting.on


def test_no_rest_where_something_is_going_on() -> None:
    session = Session()
    session.allowed = False
    resting = Rest(session)  # type: ignore[arg-type]
    assert stepped(session, resting, 500, ("forward", 1)) == 0


def test_a_program_that_never_repeats_itself_is_followed() -> None:
    session = Session()
    resting = Rest(session)  # type: ignore[arg-type]
    assert sum(stepped(session, resting, 1, ("forward", number)) for number in range(1000)) == 0


def test_steps_are_counted_and_failures_told_at_rest() -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch() as run:
        for _ in range(400):
            optimizer.zero_grad()
            model(torch.randn(2, 3)).sum().backward()
            optimizer.step()
        try:
            for size in [3] * 111 + [4]:
                optimizer.zero_grad()
                model(torch.randn(2, size)).sum().backward()
                optimizer.step()
        except RuntimeError:
            pass
    assert run.record.steps == 511
    assert run.record.ledger.optimizers[0].steps == 511
    assert run.record.forwards < 400
    (failure,) = run.record.failures
    assert failure.call == "module"
    assert "mat1 and mat2" in failure.message
