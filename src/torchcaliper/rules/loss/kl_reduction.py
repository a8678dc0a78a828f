"""L106: kl_div averaged over everything."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.shapes import shape_of
from torchcaliper.source.steps import backwards, loss_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, Symbol, constant

USES = 3


class KlReduction(Rule):
    """`kl_div` with `reduction="mean"`, which is its default.

    ## What it finds
    `kl_div` (or `KLDivLoss`) in the loss that is differentiated, with the reduction `mean`.

    ## Why it matters
    `mean` divides by the number of all elements, classes included: the value is not the KL divergence but that divided
    by the number of classes, and its weight against other losses changes with it. torch itself warns of it.

    ## Faulty
    ```python
    loss = F.kl_div(student.log_softmax(1), teacher.softmax(1))
    ```

    ## Sound
    ```python
    loss = F.kl_div(student.log_softmax(1), teacher.softmax(1), reduction="batchmean")
    ```

    ## When it is silent
    For `batchmean`, `sum` and `none`; for inputs of one dimension; where it is only measured.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html
    """

    code = "L106"
    name = "kl-reduction"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            if use.name != "kl_div" or use.reduction != "mean" or use.times < USES or not use.backwards:
                continue
            if len(use.input_shape) < 2:
                continue
            classes = 1
            for size in use.input_shape[1:]:
                classes *= size
            if classes < 2:
                continue
            yield self.finding(
                "kl_div with reduction='mean' is the KL divergence divided by {classes}",
                at=run.at(use.site if use.layer_site is None else use.layer_site),
                evidence=[evidence("its input has the shape {shape}", shape=use.input_shape)],
                fix="reduction='batchmean'",
                count=use.times,
                first_step=use.first_step,
                subjects=[f"loss:{use.site}"],
                classes=classes,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for loss in trace.named("kl_div"):
                made = loss.result
                if not isinstance(made, Symbol) or loss.context.grad is False or id(loss.node) in told:
                    continue
                if {"size_average", "reduce"} & set(made.options) or not loss.full.startswith("torch."):
                    continue
                given = made.options.get("reduction")
                if given is not None and constant(given) != "mean":
                    continue
                if len(shape_of(loss.value("input")) or (0, 0)) == 1:
                    continue
                if not any(depends_on(loss_of(b), {id(made)}) for b in backwards(trace)):
                    continue
                told.add(id(loss.node))
                place = made.by.place if isinstance(made.by, Object) and made.by.place is not None else loss.place
                yield self.finding(
                    "kl_div with reduction='mean' is the KL divergence divided by the number of classes",
                    at=place.location,
                    evidence=[evidence("the loss that is differentiated", loss.location)],
                    fix='reduction="batchmean"',
                    subjects=[f"loss:{loss.location}"],
                )
