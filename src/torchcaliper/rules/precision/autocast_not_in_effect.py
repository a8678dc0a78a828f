"""P108."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import AutocastMiss, Run

#: forwards in which it was so, where it depends on the order of calls
_TIMES = 3


class AutocastNotInEffect(Rule):
    """An autocast region that lowers nothing.

    ## What it finds
    A region for another device type than the network's, a network of float64 parameters inside a region (autocast
    leaves float64 alone), a region that torch switched off because of its device or dtype, or a region around the
    loss only while the network's forward runs before it.

    ## Why it matters
    The program believes to train in mixed precision and does not: no speed, no memory is gained, and measurements of
    mixed precision measure something else.

    ## Faulty
        output = model(x)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(output, y)

    ## Sound
        with torch.autocast("cuda", dtype=torch.bfloat16):
            output = model(x)
            loss = criterion(output, y)

    ## When it is silent
    For `enabled=False`, for an inner region switched off on purpose, for regions that hold several networks of which
    some are lowered, and for networks that are not trained.

    ## References
    * https://docs.pytorch.org/docs/stable/amp.html
    * https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference
    """

    code = "P108"
    name = "autocast-not-in-effect"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for miss in run.modes.autocast_misses:
            if miss.reason != "loss-only" or miss.times >= _TIMES:
                yield self._finding(run, miss)

    def _finding(self, run: Run, miss: AutocastMiss) -> Finding:
        message, fix = _WORDS[miss.reason]
        if miss.reason == "disabled" and miss.region_device == "cuda":
            message = "autocast is for cuda, which is not available here: {root} runs in {dtype} on {device}"
            fix = 'torch.autocast(device_type=device.type, ...) with the device of the model ("{device}")'
        return self.finding(
            message,
            at=run.at(miss.site),
            evidence=[
                evidence(
                    "parameters of {root}: {dtype} on {device}", root=miss.module, dtype=miss.dtype, device=miss.device
                )
            ],
            fix=fix,
            count=miss.times,
            first_step=miss.first_step,
            subjects=[f"root:{miss.root}"],
            root=miss.module,
            region=miss.region_device,
            region_dtype=miss.region_dtype,
            dtype=miss.dtype,
            device=miss.device,
        )


_WORDS = {
    "other-device": (
        "this autocast region is for {region}, but {root} is on {device}: nothing is lowered",
        'torch.autocast("{device}", dtype=torch.{region_dtype})',
    ),
    "float64": (
        "{root} holds float64 parameters; autocast to {region_dtype} leaves float64 alone",
        "model.float(), and float32 inputs",
    ),
    "disabled": (
        "torch switched this autocast region off: its dtype is not supported on {region}",
        "dtype=torch.bfloat16 (or torch.float16)",
    ),
    "loss-only": (
        "the autocast region holds the loss only: the forward of {root} ran before it, in {dtype}",
        "Put the forward inside the region, too.",
    ),
}
