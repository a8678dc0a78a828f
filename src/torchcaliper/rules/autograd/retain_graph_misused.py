"""A114 retain-graph-misused."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.graphs import depends_on, holds_graph
from torchcaliper.source.layers import has_parameters
from torchcaliper.source.operations import CUTS
from torchcaliper.source.steps import backwards, held_by_optimizer, loss_of, repeats, steps_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Constant, Either, Phi, Symbol, Value, constant

#: losses seen to go through a graph made at least two steps before: once could be a window that spans two updates
LOSSES = 3


class RetainGraphMisused(Rule):
    """`retain_graph=True` hides a graph that should have been detached or computed anew.

    ## What it finds

    A backward with `retain_graph=True` whose graph is gone through again by losses of *later* steps: a total that sums
    the losses of all steps, or features computed once before the loop.

    ## Why it matters

    After an optimizer step the values saved in the old graph belong to parameters that no longer exist. torch's error
    ("Trying to backward through the graph a second time") says so; `retain_graph=True` silences it. The gradients of
    the old steps are added again, with stale values, and memory is never given back.

    ## Faulty

    ```python
    total = 0
    for x, y in loader:
        total = total + criterion(model(x), y)
        optimizer.zero_grad()
        total.backward(retain_graph=True)
        optimizer.step()
    ```

    ## Sound

    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ```

    ## When it is silent

    When the graph is needed again within the same step: two losses on one graph, a gradient penalty, the second
    network of a GAN. When `retain_graph=True` is merely superfluous. A hidden state that carries its history is
    A106.

    ## References

    * <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html>
    """

    code = "A114"
    name = "retain-graph-misused"
    severity = Severity.WARNING
    explains = ("A105",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for retained in run.lifetime.retain_graph:
            if retained.across_steps < LOSSES:
                continue
            facts = []
            if retained.holder_site is not None:
                facts.append(
                    evidence(
                        "`{holder}` keeps the graphs of earlier steps",
                        run.at(retained.holder_site),
                        holder=retained.holder,
                    )
                )
            if retained.made_site is not None:
                facts.append(
                    evidence(
                        "the graph behind `{holder}` is made here, once",
                        run.at(retained.made_site),
                        holder=retained.holder,
                    )
                )
            yield self.finding(
                "with retain_graph=True losses go backward through graphs of earlier "
                "steps, whose parameters have been updated since",
                at=run.at(retained.site),
                evidence=facts,
                fix=(
                    "compute each loss from this step's graph alone (detach, or compute "
                    "anew, what is older) and drop retain_graph=True"
                ),
                count=retained.times,
                first_step=retained.first_step,
                subjects={"history"},
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            if not trace.complete:
                continue
            for backward in backwards(trace):
                loop = backward.context.loop
                kept = constant(backward.arguments.get("retain_graph", 1)) is True
                if not kept or loop is None or not repeats(loop) or id(backward.node) in told:
                    continue
                if not any(s.loop is loop and s.event.index > backward.index for s in steps_of(trace)):
                    continue
                old = _old_graph(trace, backward)
                if old is None:
                    continue
                told.add(id(backward.node))
                place = old.place
                yield self.finding(
                    "retain_graph=True hides that every backward goes through the graphs of earlier steps again",
                    at=backward.location,
                    evidence=[evidence("what it goes through again", place.location if place is not None else None)],
                    fix="compute it anew in each step, or detach what comes from earlier ones; leave retain_graph out",
                )


def _old_graph(trace: Trace, backward: Event) -> Value | None:
    """What a backward goes through again and again: a running total of losses, or layers called before the loop."""
    loss, loop = loss_of(backward), backward.context.loop
    for carried in trace.named("carry", "update"):
        phi = carried.receiver
        # A total begins as a number; a hidden state that carries its history is another fault.
        if not isinstance(phi, Phi) or phi.loop is not loop or not isinstance(phi.first, Constant):
            continue
        made = carried.result
        if isinstance(made, Symbol) and made.op == "add" and depends_on(loss, {id(phi)}) and holds_graph(made):
            return made
    stepped = {part for s in steps_of(trace) if s.loop is loop for part in held_by_optimizer(s.optimizer).parts}
    stack, seen = [loss], 0
    while stack and seen < 400:
        item = stack.pop()
        seen += 1
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Symbol) and item.recorded and item.op not in CUTS:
            before = item.context is not None and loop not in list(item.context.loops())
            if before and has_parameters(item.by) and id(item.by) in stepped:
                return item
            stack.extend(item.inputs)
    return None
