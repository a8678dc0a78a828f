"""A105 graph-retained."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Retained, Run
from torchcaliper.source.graphs import depends_on, holds_graph, pieces
from torchcaliper.source.steps import backwards, inside, loss_of, repeats
from torchcaliper.source.trace import Event, Loop, Reading, Trace
from torchcaliper.source.values import Collection, Constant, Object, Phi, Symbol, Table, Value, options

#: graphs of earlier steps held at once. One previous loss is sound and so are a few; a single tensor computed from
#: four steps, whose parameters have been updated since, can only be a running sum or average.
VARIABLE = 4
CONTAINER = 8


#: arithmetic that carries a running value on
_SUMS = frozenset({"add", "sub", "mul", "truediv", "lerp"})


class GraphRetained(Rule):
    """Losses or outputs are kept together with their autograd graphs.

    ## What it finds

    A variable, attribute or container that, step after step, holds tensors which still carry the graph that made them
    although the parameters of that graph have been updated since: a running loss summed as a tensor, a list of losses
    or outputs, a meter that averages them. The holder is named with the statement that adds to it.

    ## Why it matters

    Every tensor that was computed from parameters refers to the nodes that computed it. As long as somebody holds the
    tensor, those nodes live, and before a backward has freed them so do all activations they saved. Memory grows
    with each step until the epoch, or the process, ends. If a later loss is computed from the held tensor, backward
    walks through all the old steps again.

    ## Faulty

    ```python
    running_loss = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        running_loss += loss
    ```

    ## Sound

    ```python
        running_loss += loss.item()      # or loss.detach(), which does not wait for the device
    ```

    ## When it is silent

    When a graph ends with its step: losses summed over the time steps of a sequence or over micro-batches before one
    backward, log-probabilities kept until the end of an episode, one previous loss, a window of bounded length
    (`deque(maxlen=...)`), inner loops of meta-learning. When fewer than four steps (eight for a container) were held at
    once. When nothing that the running functions can reach is found to hold the graphs.

    ## References

    * <https://docs.pytorch.org/docs/stable/notes/faq.html> (My model reports "cuda runtime error(2): out of memory")
    * <https://docs.pytorch.org/docs/stable/notes/autograd.html> (Saved tensors)
    """

    code = "A105"
    name = "graph-retained"
    severity = Severity.ERROR
    explains = ("A107", "V103")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for held in run.lifetime.retained:
            if held.failed:
                yield self._failed(run, held)
            elif held.graphs >= (VARIABLE if held.kind == "variable" else CONTAINER) and not self._undecided(run, held):
                yield self._kept(run, held)

    def _undecided(self, run: Run, held: Retained) -> bool:
        """Whether A106 or A114 may still turn out to be the cause."""
        if run.ending is not None:
            return False
        suspected = any(r.across_steps for r in run.lifetime.retain_graph) or bool(run.lifetime.carried)
        return held.in_loss is None or (held.in_loss and suspected)

    def _kept(self, run: Run, held: Retained) -> Finding:
        if held.kind == "variable":
            message = (
                "`{holder}` is computed from the tensors of earlier steps and keeps "
                "their graphs: {graphs} steps were alive at once"
            )
            fix = "add a number or a detached tensor to `{holder}`: `.item()`, or `.detach()` to stay on the device"
        else:
            message = (
                "`{holder}` ({kind} of {items}) keeps tensors together with "
                "their graphs: {graphs} steps were alive at once"
            )
            fix = "put `.detach()` (or `.item()` for a number) behind what is added to `{holder}`"
        if not held.after_backward:
            fix = (
                "run the evaluation under `with torch.no_grad():`, or put "
                "`.detach()` behind what is added to `{holder}`"
            )
        facts = []
        if not held.growing:
            facts.append(
                evidence("the graphs were made here; the statement that keeps them was not found", run.at(held.site))
            )
        if not held.after_backward:
            facts.append(evidence("they never went through backward, so every activation they saved is kept too"))
        if held.in_loss:
            facts.append(evidence("a later loss is computed from them: its backward walks through the old steps again"))
        subjects = {"growth:losses"}
        if held.in_loss:
            subjects.add("history")
        if not held.after_backward and held.root is not None:
            subjects.add(f"root:{held.root}")
        return self.finding(
            message,
            at=run.at(held.site),
            evidence=facts,
            fix=fix,
            count=held.graphs,
            first_step=held.first_step,
            subjects=subjects,
            holder=held.holder,
            kind=held.kind,
            items=held.items,
            graphs=held.graphs,
        )

    def _failed(self, run: Run, held: Retained) -> Finding:
        failure = next((f for f in reversed(run.failures) if f.call == "backward"), None)
        facts = (
            [evidence("backward raised here: the earlier step's graph was freed", run.at(failure.site))]
            if failure
            else []
        )
        return self.finding(
            "`{holder}` carries the graph of an earlier step into this loss, "
            "and backward has already gone through that graph",
            at=run.at(held.site),
            evidence=facts,
            fix="add a number or a detached tensor to `{holder}`, or start it anew before each backward",
            first_step=held.first_step,
            subjects={"growth:losses", "history"},
            holder=held.holder,
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for event in trace.named("update", "append", "extend", "add", "set", "carry"):
                if event.context.loop is None or event.context.grad is False or id(event.node) in told:
                    continue
                kept = _kept(event)
                if kept is None or _in_forward(event) or not repeats(kept[1]) or not holds_graph(kept[2]):
                    continue
                if _is_needed(kept, event, trace):
                    continue
                evaluates = not any(inside(b, kept[1]) for b in backwards(trace))
                if evaluates and (kept[1].parent is not None or not _evaluates_in(trace, kept[1])):
                    continue  # no loop over batches, or gone with the turn of the loop around it
                told.add(id(event.node))
                yield self.finding(
                    "`{holder}` keeps tensors together with their graphs: memory grows with every turn of the loop",
                    at=(kept[2].place or event.place).location if event.name == "carry" else event.location,
                    evidence=[evidence("the loop", kept[1].place.location)],
                    fix="run the evaluation under `with torch.no_grad():`, or put `.detach()` behind what is kept"
                    if evaluates
                    else "put `.item()` (a number) or `.detach()` (a tensor) behind what is kept",
                    holder=kept[0],
                )


def _kept(event: Event) -> tuple[str, Loop, Value] | None:
    """What a statement adds to what outlives a turn: the holder's name, the loop, what is added."""
    loop = event.context.loop
    assert loop is not None
    holder, receiver = event.attribute, event.receiver
    if event.name == "carry":
        # `total = total + loss`; `total += loss` has told already.
        for made in options(event.result):
            place = made.place
            if not isinstance(made, Symbol) or made.op not in _SUMS or place is None:
                continue
            if depends_on(made, {id(receiver)}) and not isinstance(place.node, ast.AugAssign):
                return holder, loop, made
        return None
    if event.name == "update":
        if event.full != "add" or not _is_number_or_sum(receiver):
            return None
        carried = receiver.loop if isinstance(receiver, Phi) else None
        return None if carried is None or not holder else (holder, carried, event.arguments.positional[0])
    if event.name == "set":
        if event.attribute != "[]":
            return _into_attribute(event)
        # `history[step] = loss`
        if not isinstance(receiver, Table | Collection):
            return None
    elif not isinstance(receiver, Collection) or not event.arguments.positional:
        return None
    outer = next((lp for lp in event.context.loops() if _made_outside(receiver, lp)), None)
    if outer is None or receiver.escaped or not _is_list(receiver):
        return None
    return ast.unparse(_holder(event)), outer, event.arguments.positional[-1]


def _into_attribute(event: Event) -> tuple[str, Loop, Value] | None:
    """`self.total += loss`, of an object that is older than the loop."""
    made = event.result
    if not isinstance(made, Symbol) or made.place is None or len(made.inputs) != 2 or made.op != "add":
        return None
    if not isinstance(made.place.node, ast.AugAssign) or not _is_number_or_sum(made.inputs[0]):
        return None
    outer = next((lp for lp in event.context.loops() if _made_outside(event.receiver, lp)), None)
    return None if outer is None else (event.attribute, outer, made.inputs[1])


def _evaluates_in(trace: Trace, loop: Loop) -> bool:
    """Whether a program calls a whole network in every turn of a loop."""
    calls = (e for e in trace.named("enter") if inside(e, loop) and not _in_forward(e))
    return trace.is_program and any(True for _ in calls)


def _in_forward(event: Event) -> bool:
    return any(call.function.name == "forward" for call in event.context.calls())


def _holder(event: Event) -> ast.expr:
    node = event.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.value if isinstance(node, ast.Subscript) else ast.Name("it")


def _is_list(held: Value | None) -> bool:
    return isinstance(held, Table) or (isinstance(held, Collection) and held.kind in ("list", "set"))


def _is_number_or_sum(value: Value | None) -> bool:
    """Whether a running sum began as a number: a tensor's own `+=` is another matter."""
    if isinstance(value, Phi):
        return isinstance(value.first, Constant)
    return isinstance(value, Constant)


def _made_outside(value: Value | None, loop: Loop) -> bool:
    """Whether a value was there before a loop began."""
    if not isinstance(value, Object | Collection | Table) or value.context is None:
        return False
    return all(other is not loop for other in value.context.loops())


def _is_needed(kept: tuple[str, Loop, Value], event: Event, trace: Trace) -> bool:
    """Whether what is kept is differentiated later, or dropped again in the same loop."""
    receiver = event.receiver
    losses = [(b, loss_of(b)) for b in trace.named("backward", "grad")]
    if not isinstance(receiver, Collection | Table):
        sums = (
            {id(receiver), id(event.result), id(kept[2])} if event.name == "carry" else {id(receiver), id(event.result)}
        )
        return any(depends_on(loss, sums) for _, loss in losses)
    for other in trace.named("clear", "pop", "popleft", "del", "remove"):
        # Replayed, emptied, cut short: not a mere record.
        if other.receiver is receiver:
            return True
    for b, loss in losses:
        later = b.index > event.index and not inside(b, kept[1])
        if depends_on(loss, {id(receiver)}) or (later and depends_on(loss, pieces(kept[2]))):
            return True
    return not trace.complete
