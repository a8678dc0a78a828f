"""A105 graph-retained."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Retained, Run

#: graphs of earlier steps held at once. One previous loss is sound and so are a few; a single tensor computed from
#: four steps, whose parameters have been updated since, can only be a running sum or average.
VARIABLE = 4
CONTAINER = 8


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
