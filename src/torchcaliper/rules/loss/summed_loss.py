"""L108: a summed loss."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

USES = 3


class SummedLoss(Rule):
    """`reduction="sum"` in the loss that is differentiated.

    ## What it finds
    A loss with `reduction="sum"` that goes into `backward()` undivided.

    ## Why it matters
    The gradient grows with the number of samples (and pixels, tokens): the learning rate fits one batch size only,
    and the last, smaller batch takes a smaller step.

    ## Faulty
    ```python
    F.mse_loss(model(x), x, reduction="sum").backward()
    ```

    ## Sound
    ```python
    F.mse_loss(model(x), x).backward()
    ```

    ## When it is silent
    Where the sum is divided before `backward()`, and for batches of one element. It is advice: with a learning rate
    chosen for it (variational autoencoders are often written so), a sum is right.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.MSELoss.html
    """

    code = "L108"
    name = "summed-loss"
    severity = Severity.ADVICE

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            elements = 1
            for size in use.input_shape:
                elements *= size
            if use.reduction != "sum" or use.alone < USES or elements < 2 or use.alone < use.backwards:
                continue
            yield self.finding(
                "{loss} sums over {elements:,} elements: the size of a step depends on the size of the batch",
                at=run.at(use.site if use.layer_site is None else use.layer_site),
                evidence=[
                    evidence("it goes into backward() undivided; it stood at {value}", value=use.stood_at(".4g"))
                ],
                fix="use the mean, or divide by the number of samples",
                count=use.times,
                first_step=use.first_step,
                subjects=[f"loss:{use.site}"],
                loss=use.name,
                elements=elements,
            )
