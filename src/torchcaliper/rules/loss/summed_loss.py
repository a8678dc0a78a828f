"""L108: a summed loss."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.metrics import FALLS, sense
from torchcaliper.source.operations import LOSSES
from torchcaliper.source.steps import backwards, loss_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Constant, Either, Object, Symbol, Value

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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[object] = set()
        for trace in reading.traces:
            for backward in backwards(trace):
                if backward.context.loop is None:
                    continue
                terms = list(_undivided(loss_of(backward)))
                # Several sums of one kind are a bound (a variational autoencoder): their ratio is meant.
                # The sum of whatever a network gives is no loss.
                if len(terms) != 1 or sense(terms[0]) != FALLS:
                    continue
                made = terms[0]
                place = made.by.place if isinstance(made.by, Object) and made.by.place is not None else made.place
                if place is None or place.location in told:
                    continue
                told.add(place.location)
                yield self.finding(
                    "{loss} sums over the whole batch: the size of a step depends on the size of the batch",
                    at=place.location,
                    evidence=[evidence("differentiated here, undivided", backward.location)],
                    fix='reduction="mean", or divide by the number of samples',
                    subjects=[f"loss:{place.location}"],
                    loss=made.op,
                )


def _undivided(loss: Value | None) -> Iterator[Symbol]:
    """Summed losses, and sums by hand, that are terms of a loss."""
    stack, seen = [loss], 0
    while stack and seen < 40:
        item = stack.pop()
        seen += 1
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Symbol):
            if _is_sum(item):
                yield item
            elif item.op in ("add", "neg", "sub", "scale") or (item.op == "mul" and _is_scaled(item)):
                stack.extend(item.inputs)


def _is_scaled(product: Symbol) -> bool:
    return any(isinstance(part, Constant) for part in product.inputs)


def _is_sum(made: Symbol) -> bool:
    if made.op in LOSSES:
        return bool(made.option("reduction") == "sum")
    return made.op == "sum" and made.recorded and made.shape == ()
