"""P106: BCELoss under autocast."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Symbol, constant, options

_MESSAGE = "unsafe to autocast"
#: calls before a verdict
_CALLS = 2


class LossUnsafeUnderAutocast(Rule):
    """BCELoss on probabilities in half precision.

    ## What it finds
    `binary_cross_entropy` / `nn.BCELoss` called inside an autocast region on probabilities that are in half precision.
    On CUDA torch refuses ("unsafe to autocast"), which is explained; on a CPU it runs.

    ## Why it matters
    A sigmoid in bfloat16 gives exactly 1 for scores above 6, in float16 above 8. The loss of such a sample is clamped,
    and its gradient is no use.

    ## Faulty
    ```python
    with torch.autocast("cuda"):
        loss = nn.BCELoss()(torch.sigmoid(model(x)), y)
    ```

    ## Sound
    ```python
    with torch.autocast("cuda"):
        loss = nn.BCEWithLogitsLoss()(model(x), y)
    ```

    ## When it is silent
    `binary_cross_entropy_with_logits`; probabilities that were computed in float32; losses computed outside of the
    region.

    ## References
    * [Autocast: prefer binary_cross_entropy_with_logits](https://docs.pytorch.org/docs/stable/amp.html)
    """

    code = "P106"
    name = "loss-unsafe-under-autocast"
    severity = Severity.ERROR
    explains = ("A110", "P105")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        fix = "leave out the sigmoid and use F.binary_cross_entropy_with_logits (nn.BCEWithLogitsLoss)"
        for failure in run.failures:
            if _MESSAGE in failure.message:
                yield self.finding(
                    "binary cross entropy on probabilities is not allowed under autocast: in half precision they are "
                    "rounded to 0 and 1",
                    at=run.at(failure.site),
                    evidence=(evidence("torch refuses it: {text}", text=failure.message.partition("\n")[0]),),
                    fix=fix,
                    first_step=failure.step,
                    subjects=(f"site:{failure.site}", f"loss:{failure.site}"),
                )
                return
        for call in run.numerics.low_precision:
            if call.kind == "loss" and call.times >= _CALLS:
                yield self.finding(
                    "binary cross entropy gets probabilities in {dtype}, which are rounded to 0 and 1",
                    at=run.at(call.site),
                    evidence=(evidence("{times:,} calls inside of an autocast region", times=call.times),),
                    fix=fix,
                    first_step=call.step,
                    count=call.times,
                    subjects=(f"site:{call.site}", f"loss:{call.site}"),
                    dtype=call.dtype,
                )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for loss in trace.named("binary_cross_entropy"):
                region = loss.context.autocast
                if region is None or id(loss.node) in told:
                    continue
                enabled = region.arguments.get("enabled")
                if enabled is not None and constant(enabled) is not True:
                    continue
                if any(isinstance(o, Symbol) and o.op in ("float", "double") for o in options(loss.value("input"))):
                    continue
                told.add(id(loss.node))
                yield self.finding(
                    "binary cross entropy on probabilities is not allowed under autocast: in half precision they are "
                    "rounded to 0 and 1",
                    at=loss.location,
                    evidence=[evidence("the autocast region begins here", region.place.location)],
                    fix="leave out the sigmoid and use F.binary_cross_entropy_with_logits (nn.BCEWithLogitsLoss)",
                    subjects=[f"loss:{loss.location}"],
                )
