"""P107: a gradient scaler beside bfloat16."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.operations import AUTOCAST
from torchcaliper.source.steps import is_scaler_object
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, name_of

#: scaled losses after which the scaler is part of the loop
_MIN_SCALES = 3


class NeedlessScaler(Rule):
    """A GradScaler beside bfloat16.

    ## What it finds
    Losses are scaled although every training forward under autocast runs in bfloat16.

    ## Why it matters
    The scaler keeps small float16 gradients from becoming zero. bfloat16 has the range of float32, so there is nothing
    to protect: the scaler costs a check of all gradients and a wait for the device in every step.

    ## Faulty
    ```python
    scaler = torch.amp.GradScaler()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    ```

    ## Sound
    ```python
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    ```

    ## When it is silent
    Disabled scalers (`enabled=False`, or no CUDA device); any forward in float16; no forward under autocast.

    ## References
    * [Gradient scaling](https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling)
    """

    code = "P107"
    name = "needless-scaler"
    severity = Severity.ADVICE

    def judge_run(self, run: Run) -> Iterator[Finding]:
        dtypes = run.protocol.autocast_dtypes
        if set(dtypes) != {"bfloat16"} or dtypes["bfloat16"] < _MIN_SCALES:
            return
        for index, scaler in enumerate(run.protocol.scalers):
            if not scaler.enabled or scaler.scales < _MIN_SCALES:
                continue
            yield self.finding(
                "The GradScaler is not needed: all {forwards} training forwards under autocast ran in bfloat16.",
                at=run.at(scaler.site),
                evidence=(evidence("{scales} losses were scaled", run.at(scaler.site), scales=scaler.scales),),
                fix="GradScaler(enabled=False), or loss.backward() and optimizer.step() without the scaler",
                count=scaler.scales,
                subjects=(f"scaler:{index}",),
                forwards=dtypes["bfloat16"],
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not trace.complete:
                continue
            regions = {id(r): r for e in trace.events for r in e.context.regions() if r.name in AUTOCAST}
            dtypes = {name_of(r.arguments.get("dtype", 1)) for r in regions.values()}
            if dtypes != {"torch.bfloat16"}:
                continue
            for made in trace.named("make"):
                scaler = made.result
                if not isinstance(scaler, Object) or not is_scaler_object(scaler):
                    continue
                scales = [e for e in trace.named("scale") if e.receiver is scaler]
                if scales and scaler.arguments.get("enabled") is None:
                    yield self.finding(
                        "The GradScaler is not needed: every forward under autocast runs in bfloat16.",
                        at=made.location,
                        evidence=[evidence("a loss is scaled here", scales[0].location)],
                        fix="GradScaler(enabled=False), or loss.backward() and optimizer.step() without the scaler",
                    )
