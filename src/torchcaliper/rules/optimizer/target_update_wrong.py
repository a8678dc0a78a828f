"""O113 target-update-wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Copy, Run
from torchcaliper.source.averages import followed, state_of
from torchcaliper.source.layers import is_network, plain
from torchcaliper.source.steps import held_by_optimizer, steps_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object

#: copies of a network onto itself; one may be a loop over several networks that meets itself
ONTO_ITSELF = 2
#: times that training was undone by a source that never changed; less could be a restart
OVERWRITTEN = 3


class TargetUpdateWrong(Rule):
    """A target network is updated from itself, or the trained network is overwritten by its target.

    ## What it finds

    * A network that is not trained loads its own weights, while a twin of its architecture is being trained.
    * A network in training is overwritten again and again, by one and the same optimizer's steps in between, with the
      weights of an untrained network that never changes and that is called in between: the arguments of the
      synchronisation are exchanged.

    ## Why it matters

    A target network that is updated from itself stays at its initial weights: the goals it gives are noise. With the
    direction reversed, each synchronisation throws away what was learned since the last one.

    ## Faulty

    ```python
    self.target.load_state_dict(self.target.state_dict())
    ```

    ## Sound

    ```python
    self.target.load_state_dict(self.online.state_dict())
    ```

    ## When it is silent

    When weights are restored from a file or a copy (best weights, early stopping, cross-validation, rewinding), when
    the source changes in between (Reptile, Lookahead, populations), when the source is never called (a kept initial
    state), when each overwriting begins a training with a new optimizer. A target that is never updated at all is
    not judged: teachers and random network distillation are just that.

    ## References

    * Mnih et al., "Human-level control through deep reinforcement learning", Nature 518 (2015)
    * Lillicrap et al., "Continuous control with deep reinforcement learning", arXiv:1509.02971
    """

    code = "O113"
    name = "target-update-wrong"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        copies = run.ledger.copies
        honest = {c.site for c in copies if not c.same_storage}
        told = set()
        for copy in copies:
            if copy.site in told:
                continue
            if self._onto_itself(run, copy) and copy.site not in honest:
                told.add(copy.site)
                yield self._finding(
                    run,
                    copy,
                    "`{target}` is updated from itself, so it never changes, while a "
                    "network of the same architecture is trained",
                    "copy the trained network's weights into `{target}`",
                    [],
                )
            elif self._undoes(copies, copy):
                told.add(copy.site)
                facts = [
                    evidence(
                        "`{source}` is not trained and has not changed since the first copy",
                        source=copy.source_name or "the source",
                    )
                ]
                if copy.loop:
                    facts.append(evidence("seen in each of the {times} steps looked at closely", times=copy.times))
                yield self._finding(
                    run,
                    copy,
                    "`{target}` is in training and is overwritten by `{source}`, "
                    "which never changes: the direction is reversed",
                    "exchange the two: `{source}` has to follow `{target}`",
                    facts,
                )

    @staticmethod
    def _onto_itself(run: Run, copy: Copy) -> bool:
        itself = copy.same_storage and copy.target_name == copy.source_name and bool(copy.target_name)
        return itself and not copy.target_trained and copy.twin_trained and (copy.times >= ONTO_ITSELF or run.complete)

    @staticmethod
    def _undoes(copies: list[Copy], copy: Copy) -> bool:
        if copy.same_storage or not copy.target_trained or copy.source_trained or copy.source_changed is not False:
            return False
        if copy.after_training < OVERWRITTEN or copy.source_called < copy.after_training:
            return False
        # A source that is filled from the target during training keeps a state to go back to.
        return not any(
            c.target == copy.source and c.source == copy.target and (c.times > 1 or c.first_step > 0) for c in copies
        )

    def _finding(self, run: Run, copy: Copy, message: str, fix: str, facts: list[Evidence]) -> Finding:
        return self.finding(
            message,
            at=run.at(copy.site),
            evidence=facts,
            fix=fix,
            count=copy.times,
            first_step=copy.first_step,
            subjects={f"copy:{copy.site}"},
            target=copy.target_name or "the network",
            source=copy.source_name or "another network",
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            trained = _trained(trace)
            if not (trace.complete and trained):
                continue
            told: set[int] = set()
            for event in trace.events:
                copy = _copied(event)
                if copy is None or id(event.node) in told or event.context.loop is None:
                    continue
                target, source = copy
                if target is source and id(target) not in trained and _is_target(trace, target):
                    told.add(id(event.node))
                    yield self.finding(
                        "a network is updated from itself, so it never changes, while another one is trained",
                        at=event.location,
                        fix="copy the trained network's weights into it",
                    )
                elif (
                    target is not source
                    and id(target) in trained
                    and id(source) not in trained
                    and _is_target(trace, source)
                    and not _starts_anew(trace, event, target)
                    and not any((other := _copied(e)) is not None and other[0] is source for e in trace.events)
                ):
                    told.add(id(event.node))
                    yield self.finding(
                        "the network in training is overwritten by its target, which never changes: the direction is "
                        "reversed",
                        at=event.location,
                        fix="exchange the two: the target has to follow the trained network",
                    )


def _copied(event: Event) -> tuple[Object, Object] | None:
    """Which network takes another one's weights: (to, from)."""
    if event.name == "load_state_dict":
        target, given = plain(event.receiver), event.arguments.get("state_dict", 0)
        source = state_of(given) if given is not None else None
        if not isinstance(target, Object) or not is_network(target) or source is None or given is None:
            return None
        # Nothing between reading the state and loading it: a state that was changed in between is another matter.
        written = event.node.args if isinstance(event.node, ast.Call) else []
        direct = given.place is not None and any(given.place.node is part for part in written)
        return (target, source) if direct else None
    return followed(event) if event.name in ("mul_", "copy_", "lerp_", "add_", "set") else None


def _trained(trace: Trace) -> set[int]:
    """The networks, with all in them, that optimizers step, by id."""
    return {part for step in steps_of(trace) for part in held_by_optimizer(step.optimizer).parts}


def _is_target(trace: Trace, network: Object) -> bool:
    """Whether a network's outputs are goals: it is only called where nothing is recorded, or is cut off."""
    calls = [e for e in trace.named("enter") if e.receiver is network]
    return bool(calls) and all(e.context.grad is False for e in calls)


def _starts_anew(trace: Trace, event: Event, network: Object) -> bool:
    """Whether the optimizer is made anew in each turn as well: another trial, not another step."""
    for step in steps_of(trace):
        context = step.optimizer.context
        loops = list(context.loops()) if context is not None else []
        if event.context.loop in loops and id(network) in held_by_optimizer(step.optimizer).parts:
            return True
    return False
