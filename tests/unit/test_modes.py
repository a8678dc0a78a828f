"""Rules of modes and failures over records made by hand: what no program can show on every machine."""

from __future__ import annotations

import pytest

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule
from torchcaliper.rules.autograd.evaluation_builds_graph import EvaluationBuildsGraph
from torchcaliper.rules.autograd.in_place_on_saved import InPlaceOnSaved
from torchcaliper.rules.model.batchnorm_single_sample import BatchnormSingleSample
from torchcaliper.rules.model.evaluated_in_training_mode import EvaluatedInTrainingMode
from torchcaliper.rules.model.trained_in_evaluation_mode import TrainedInEvaluationMode
from torchcaliper.rules.precision.autocast_not_in_effect import AutocastNotInEffect
from torchcaliper.run.record import AutocastMiss, Failure, ForwardKind, Root, RootTraining, Run, Site, StuckMode


def record() -> Run:
    run = Run(sites=[Site("/train.py", line, "main") for line in range(10)])
    run.ledger.roots.append(Root("Net"))
    run.modes.trained.append(RootTraining(0, [0], steps=40))
    return run


def judged(rule: type[Rule], run: Run) -> list[Finding]:
    found = list(rule().judge_run(run))
    for finding in found:  # every template must have its values
        finding.message.render()
        assert finding.fix is not None
        finding.fix.text.render()
        for shown in finding.evidence:
            shown.text.render()
    return found


def forward(**values: object) -> ForwardKind:
    plain = {"root": 0, "site": 3, "training": True, "grad": False, "inference": False, "autocast": ""}
    kind = ForwardKind(**{**plain, **values})  # type: ignore[arg-type]
    return kind


@pytest.mark.parametrize("reason", ["other-device", "float64", "disabled", "loss-only"])
def test_autocast_without_effect(reason: str) -> None:
    run = record()
    run.modes.autocast_misses.append(
        AutocastMiss(0, "Net", "Net", reason, "cpu", "bfloat16", "cuda", "float32", 4, times=3)
    )
    (found,) = judged(AutocastNotInEffect, run)
    assert found.location is not None
    assert found.location.line == 4


def test_a_region_around_one_loss_is_no_habit() -> None:
    run = record()
    run.modes.autocast_misses.append(
        AutocastMiss(0, "Net", "Net", "loss-only", "cuda", "float16", "cuda", "float32", 4, times=1)
    )
    assert not judged(AutocastNotInEffect, run)


def test_targets_at_every_step_are_no_evaluation() -> None:
    run = record()
    run.modes.forwards.append(forward(calls=40, runs=40, longest_run=1, loss_calls=40, layers=["drop"]))
    assert not judged(EvaluatedInTrainingMode, run)


def test_evaluation_once_in_a_while() -> None:
    run = record()
    run.modes.forwards.append(forward(calls=4, runs=4, longest_run=1, loss_calls=4, layers=["drop"]))
    (found,) = judged(EvaluatedInTrainingMode, run)
    assert found.severity is Severity.ERROR
    assert found.count == 4


def test_train_called_for_the_draws() -> None:
    run = record()
    run.modes.forwards.append(forward(calls=4, runs=4, loss_calls=4, mode_set=4, layers=["drop"]))
    assert not judged(EvaluatedInTrainingMode, run)


def test_a_function_that_sets_the_mode_itself_gets_advice() -> None:
    run = record()
    run.modes.forwards.append(forward(calls=4, runs=4, loss_calls=4, train_after=4, layers=["drop"]))
    (found,) = judged(EvaluatedInTrainingMode, run)
    assert found.severity is Severity.ADVICE


def test_graphs_of_a_network_nobody_trains() -> None:
    run = record()
    run.modes.trained.clear()
    run.modes.forwards.append(forward(training=False, grad=True, calls=9, graph_kept=9, longest_run=3))
    assert not judged(EvaluationBuildsGraph, run)


@pytest.mark.parametrize(("steps", "earlier", "evaluations", "pretrained", "told"), [
    (2, True, 1, False, False),
    (3, True, 1, True, True),
    (30, False, 1, False, False),
    (30, False, 2, False, True),
    (30, False, 2, True, False),
])  # fmt: skip
def test_steps_in_evaluation_mode(steps: int, earlier: bool, evaluations: int, pretrained: bool, told: bool) -> None:
    run = record()
    run.modes.stuck.append(
        StuckMode(0, 2, 3, steps, 0, earlier, True, ["norm"], evaluations=evaluations, pretrained=pretrained)
    )
    assert bool(judged(TrainedInEvaluationMode, run)) is told


def test_failures_of_which_nothing_is_known() -> None:
    run = record()
    run.failures.append(
        Failure("backward", "RuntimeError", "... has been modified by an inplace operation: [torch.FloatTensor]", 5, 0)
    )
    run.failures.append(
        Failure("program", "ValueError", "Expected more than 1 value per channel when training, got input size", 6, 0)
    )
    for rule, line in ((InPlaceOnSaved, 5), (BatchnormSingleSample, 6)):
        (found,) = judged(rule, run)
        assert found.location is not None
        assert found.location.line == line
