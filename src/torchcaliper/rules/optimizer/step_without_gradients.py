"""O104: steps that have no new gradient."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: a step before the loop (to please a scheduler) is harmless
_MIN_STEPS = 3
#: most of its steps, or it is an exception in the loop
_MIN_SHARE = 0.5


class StepWithoutGradients(Rule):
    """`step()` without any gradient since the last step.

    ## What it finds
    An optimizer steps although no gradient of its parameters was computed: all are None, or they are still those of
    its last step.

    ## Why it matters
    The optimizer holds parameters that the loss does not reach (those of a copy, of a model that was built anew, of
    another network), or the backward is missing. With old gradients every step repeats the last one.

    ## Faulty
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model = build_model()            # the optimizer still holds the first one
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    ```

    ## Sound
    ```python
    model = build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    ```

    ## When it is silent
    A single `optimizer.step()` before the loop; steps that a GradScaler skips; gradients that the program sets itself;
    optimizers that work without gradients and do move their parameters; fewer than three such steps, or fewer than
    half of the optimizer's.

    ## References
    * [Taking an optimization step](https://docs.pytorch.org/docs/stable/optim.html#taking-an-optimization-step)
    """

    code = "O104"
    name = "step-without-gradients"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for optimizer, patterns in run.protocol.by_optimizer().items():
            none = [p for p in patterns if p.step.has("no_gradient") and not p.step.has("moved")]
            stale = [p for p in patterns if p.step.has("stale")]
            bad = none + stale
            count, total = sum(p.count for p in bad), sum(p.count for p in patterns)
            if count < _MIN_STEPS or count <= _MIN_SHARE * total:
                continue
            most = max(bad, key=lambda p: p.count)
            facts = []
            if none:
                number = sum(p.count for p in none)
                facts.append(evidence("{number} steps: every gradient is None", run.at(most.step.site), number=number))
            if stale:
                number = sum(p.count for p in stale)
                facts.append(
                    evidence(
                        "{number} steps: gradients are those of the step before", run.at(most.step.site), number=number
                    )
                )
            yield self.finding(
                "{count} of the {total} steps of {name} looked at had no new gradient.",
                at=run.at(most.step.site),
                evidence=facts,
                fix="call backward() on a loss that reaches this optimizer's parameters before each step(); build the "
                "optimizer from the model that is trained",
                count=count,
                first_step=min(p.first_step for p in bad),
                subjects=(f"optimizer:{optimizer}", f"site:{most.step.site}"),
                name=run.ledger.optimizers[optimizer].name,
                total=total,
            )
