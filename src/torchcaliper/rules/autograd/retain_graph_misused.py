"""A114 retain-graph-misused."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

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
