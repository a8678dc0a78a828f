"""The order of calls between two steps, and the rules that judge it where a whole program would be slow."""

from __future__ import annotations

import random

from torchcaliper.rules.optimizer.plateau_mode_reversed import PlateauModeReversed
from torchcaliper.run.instruments.orders import Orders
from torchcaliper.run.record import Optimizer, Run, Scheduler, Site


def _kinds(orders: Orders) -> list[tuple[str, int]]:
    return [(call.kind, call.times) for call in orders.open_calls()]


def test_a_repeated_call_is_counted() -> None:
    orders = Orders(0)
    for _ in range(4):
        orders.enter("backward", 1)
    assert _kinds(orders) == [("backward", 4)]


def test_a_repeated_block_is_kept_once() -> None:
    orders = Orders(0)
    for _ in range(5):
        orders.enter("zero_grad", 1, "cleared")
        orders.enter("backward", 2, "closure")
    assert _kinds(orders) == [("zero_grad", 5), ("backward", 5)]


def test_equal_orders_are_one_pattern() -> None:
    orders = Orders(3)
    for step in range(10):
        orders.enter("backward", 1)
        if step == 4:
            orders.enter("clip", 2, "norm")
        orders.close(9, (), step)
    usual, clipped = orders.new_patterns()
    assert (usual.count, usual.first_step, usual.last_step) == (9, 0, 9)
    assert [c.kind for c in clipped.calls] == ["backward", "clip", "step"]
    assert clipped.count == 1
    assert orders.new_patterns() == []


def test_a_program_that_never_steps_does_not_grow_the_record() -> None:
    orders = Orders(0)
    for i in range(1000):
        orders.enter("backward", i)
    assert len(orders.open_calls()) <= 64


def _run(mode: str, metrics: list[float], losses: list[float], **values: object) -> Run:
    run = Run(sites=[Site("/train.py", 7, "main")])
    run.ledger.optimizers.append(Optimizer("SGD", 0, 0))
    scheduler = Scheduler("ReduceLROnPlateau", 0, 0, settings={"mode": mode}, metrics=metrics, losses=list(losses))
    for name, value in values.items():
        setattr(scheduler, name, value)
    run.protocol.schedulers.append(scheduler)
    return run


def _told(run: Run) -> bool:
    return bool(list(PlateauModeReversed().judge_run(run)))


LOSSES = [2.0, 1.5, 1.2, 1.0, 0.9, 0.85, 0.8, 0.78]


def test_an_accuracy_is_recognised_without_its_number_of_samples() -> None:
    counts = [102, 150, 171, 180, 185, 187, 190, 189]
    assert _told(_run("min", [c / 317 for c in counts], LOSSES))
    assert _told(_run("min", [100 * c / 317 for c in counts], LOSSES))
    assert not _told(_run("max", [c / 317 for c in counts], LOSSES))


def test_no_count_no_finding() -> None:
    values = random.Random(0)
    for _ in range(200):
        metrics = sorted(values.uniform(0.2, 0.9) for _ in range(8))
        assert not _told(_run("min", metrics, LOSSES))


def test_a_falling_error_rate_is_sound() -> None:
    assert not _told(_run("min", [c / 500 for c in (300, 250, 220, 200, 190, 185, 180, 180)], LOSSES))


def test_an_error_rate_that_overfits_is_sound() -> None:
    assert not _told(_run("min", [c / 500 for c in (120, 118, 121, 125, 130, 135, 138, 140)], LOSSES))


def test_a_score_beside_a_loss_that_does_not_fall_says_nothing() -> None:
    assert not _told(_run("min", [c / 500 for c in (220, 250, 280, 300, 310, 315, 320, 330)], [1.0] * 8))


def test_a_score_that_is_no_count_needs_the_evaluation_loss() -> None:
    metrics = [0.211, 0.35107, 0.4473, 0.5129, 0.56771, 0.591, 0.6113, 0.62391]
    evaluation = [2.1, 1.6, 1.3, 1.1, 1.0, 0.96, 0.93, 0.92]
    assert _told(_run("min", metrics, LOSSES, evaluation_losses=evaluation))
    assert not _told(_run("min", metrics, LOSSES, evaluation_losses=evaluation, metrics_equal_loss=8))
    assert not _told(_run("min", metrics, LOSSES, evaluation_losses=metrics))
