"""A106 history-grows."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: steps whose state came in with its history, each with a new graph: fewer could be one window of truncated
#: back-propagation that spans a few updates
STEPS = 4
#: losses that were seen to reach graphs made at least two steps before
CONFIRMED = 2


class HistoryGrows(Rule):
    """Hidden state is carried into the next step without detach.

    ## What it finds

    A state that a step returns (the hidden state of a recurrent network, a memory, an attribute such as
    `self.hidden`) enters the next step's forward together with the graph of all steps before. It explains torch's
    "Trying to backward through the graph a second time", which names the backward and not the state.

    ## Why it matters

    The loss of step *n* then depends on the graphs of all *n* steps. Backward frees each graph as it goes, so the
    second step raises. With `retain_graph=True` the error is gone and the fault stays: each backward walks through
    the whole past with parameters that have been updated since, takes longer at each step, and memory grows until it
    is used up.

    ## Faulty

    ```python
    hidden = None
    for x, y in chunks:
        prediction, hidden = rnn(x, hidden)
        loss = criterion(prediction, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ```

    ## Sound

    ```python
        hidden = hidden.detach()         # for an LSTM: tuple(h.detach() for h in hidden)
    ```

    ## When it is silent

    When the state is detached between updates (truncated back-propagation through time), in or outside of the module;
    when it is carried only within the window of one backward; when one and the same old graph comes in each time (see
    A114).

    ## References

    * <https://docs.pytorch.org/docs/stable/notes/faq.html> (Don't accumulate history across your training loop)
    * <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html>
    """

    code = "A106"
    name = "history-grows"
    severity = Severity.ERROR
    explains = ("A105", "A114", "V103")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for state in run.lifetime.carried:
            subjects = {"growth:history", "history"}
            if state.failed:
                failure = next((f for f in reversed(run.failures) if f.call == "backward"), None)
                facts = (
                    [evidence("backward raised here: the graph of the step before was freed", run.at(failure.site))]
                    if failure
                    else []
                )
                yield self.finding(
                    "`{state}` carries the graph of the step before into this one: "
                    "backward would have to go through it a second time",
                    at=run.at(state.site),
                    evidence=facts,
                    fix=(
                        "detach `{state}` between two steps, for example `{state} "
                        "= {state}.detach()` after the backward"
                    ),
                    count=state.times,
                    first_step=state.first_step,
                    subjects=subjects,
                    state=state.argument,
                )
            elif (
                state.confirmed >= CONFIRMED
                and run.steps - state.first_step >= STEPS - 1
                and (state.distinct >= STEPS or state.times == state.confirmed)
            ):
                facts = [
                    evidence(
                        "the loss of step {first} reached {few} nodes of the graph, that of step {last} reached {many}",
                        first=state.step_first,
                        few=state.nodes_first,
                        last=state.step_last,
                        many=state.nodes_last,
                    )
                ]
                yield self.finding(
                    "`{state}` carries the graph of all steps before into each "
                    "new one: backward goes through the whole past",
                    at=run.at(state.site),
                    evidence=facts,
                    fix=(
                        "detach `{state}` between two steps, for example `{state} "
                        "= {state}.detach()` after the backward"
                    ),
                    count=state.times,
                    first_step=state.first_step,
                    subjects=subjects,
                    state=state.argument,
                )
