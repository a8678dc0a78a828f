"""P103: backward inside the autocast region."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.steps import backwards
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import constant

#: a habit of the loop
_MIN_TIMES = 3


class BackwardUnderAutocast(Rule):
    """`backward()` runs inside the autocast region.

    ## What it finds
    `loss.backward()` is called while autocast is on.

    ## Why it matters
    Backward operators run in the type autocast chose for their forward anyway, so the region adds nothing but risk:
    custom autograd functions, hooks and recomputed layers are cast a second time. PyTorch recommends against it.

    ## Faulty
    ```python
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
        scaler.scale(loss).backward()
    ```

    ## Sound
    ```python
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    ```

    ## When it is silent
    Regions with `enabled=False`; fewer than three such calls.

    ## References
    * [torch.autocast](https://docs.pytorch.org/docs/stable/amp.html#torch.autocast)
    """

    code = "P103"
    name = "backward-under-autocast"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for backward in run.protocol.autocast_backwards:
            if backward.times < _MIN_TIMES:
                continue
            yield self.finding(
                "backward() runs inside the autocast region ({device}, {dtype}), {count} times.",
                at=run.at(backward.site),
                evidence=(evidence("{total} backward passes in the run", run.at(backward.site), total=run.backwards),),
                fix="end the `with torch.autocast(...)` block after the loss is computed: dedent backward()",
                count=backward.times,
                first_step=backward.first_step,
                subjects=(f"site:{backward.site}",),
                device=backward.device,
                dtype=backward.dtype,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for backward in backwards(trace):
                region = backward.context.autocast
                if region is None or backward.context.loop is None or id(backward.node) in told:
                    continue
                enabled = region.arguments.get("enabled")
                if enabled is not None and constant(enabled) is not True:
                    continue
                told.add(id(backward.node))
                yield self.finding(
                    "backward() runs inside the autocast region.",
                    at=backward.location,
                    evidence=[evidence("the region begins here", region.place.location)],
                    fix="end the `with torch.autocast(...)` block after the loss is computed: dedent backward()",
                )
