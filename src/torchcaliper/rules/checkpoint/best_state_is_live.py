"""C104: a state kept by reference."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.averages import state_of
from torchcaliper.source.steps import Step, held_by_optimizer, inside, steps_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, Symbol, Value, options


class BestStateIsLive(Rule):
    """`state_dict()` kept by reference keeps changing.

    ## What it finds
    A `state_dict()` is kept, the network is trained on, and the state is loaded or saved later as if it were the one
    of that moment.

    ## Why it matters
    `state_dict()` gives the live tensors, not copies: every step changes them in place. "Restoring the best weights"
    restores the last ones, and nothing fails.

    ## Faulty
    ```python
    if val_loss < best:
        best, state = val_loss, model.state_dict()
    ...
    model.load_state_dict(state)
    ```

    ## Sound
    ```python
    if val_loss < best:
        best, state = val_loss, copy.deepcopy(model.state_dict())
    ...
    model.load_state_dict(state)
    ```

    ## When it is silent
    For copies (`deepcopy`, `clone()`), for a state that is saved or loaded before the next step, and for networks that
    are not trained in between.

    ## References
    * https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html
    """

    code = "C104"
    name = "best-state-is-live"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            steps = list(steps_of(trace))
            told: set[int] = set()
            for use in trace.named("load_state_dict", "save"):
                given = use.arguments.get("state_dict", 0) or use.arguments.get("obj", 0)
                for kept in options(given):
                    network = state_of(kept)
                    if network is None or not isinstance(kept, Symbol) or kept.place is None:
                        continue
                    if id(kept.place.node) in told or not _is_outdated(trace, kept, network, use, steps):
                        continue
                    told.add(id(kept.place.node))
                    yield self.finding(
                        "state_dict() is kept by reference: it goes on changing with every step, so what is {done} "
                        "later is the last state",
                        at=kept.place.location,
                        evidence=[evidence("it is {done} here", use.location, done=_DONE[use.name])],
                        fix="copy.deepcopy(model.state_dict())",
                        done=_DONE[use.name],
                    )


_DONE = {"load_state_dict": "loaded", "save": "saved"}


def _is_outdated(trace: Trace, kept: Symbol, network: Object, use: Event, steps: list[Step]) -> bool:
    """Whether the network is stepped between the moment when its state is taken and the one when it is used."""
    taken = next((e for e in trace.named("state_dict") if e.result is kept), None)
    if taken is None or _is_direct(use, kept):
        return False
    for step in steps:
        held = held_by_optimizer(step.optimizer)
        if id(network) not in held.parts and not any(n is network for n in held.networks):
            continue
        between = taken.index < step.event.index < use.index
        # Taken in a loop that steps, used after it.
        loop = next((lp for lp in taken.context.loops() if inside(step.event, lp)), None)
        later = loop is not None and not inside(use, loop) and use.index > taken.index
        if between or later:
            return True
    return False


def _is_direct(use: Event, kept: Value) -> bool:
    """Whether the state is taken in the very call that uses it."""
    place = kept.place
    return place is not None and place.file is use.file and getattr(place.node, "lineno", 0) == use.location.line
