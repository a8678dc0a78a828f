"""R101: a distributed sampler that is never told the epoch."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.datasets import loader_option, training_loaders
from torchcaliper.source.steps import repeats
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Constant, Object, options


class SamplerEpochNotSet(Rule):
    """A DistributedSampler gives the same order in every epoch.

    ## What it finds
    A loader with a shuffling `DistributedSampler` is gone through once per turn of an outer loop, and `set_epoch` is
    never called.

    ## Why it matters
    The sampler seeds its shuffle by the epoch number, so that all ranks agree. Without `set_epoch` the number stays 0:
    every epoch has the same batches in the same order.

    ## Faulty
    ```python
    for epoch in range(epochs):
        for batch in loader:
            ...
    ```

    ## Sound
    ```python
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            ...
    ```

    ## When it is silent
    With `shuffle=False`, for a single epoch, where the loader or the sampler is given to code that is not known
    (trainers call `set_epoch` themselves), and outside of training.

    ## References
    * https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    code = "R101"
    name = "sampler-epoch-not-set"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not trace.complete or any(True for _ in trace.named("set_epoch")):
                continue
            told: set[int] = set()
            for loader, loop in training_loaders(trace).values():
                outer = loop.parent
                if outer is None or not repeats(outer) or loader.escaped:
                    continue
                for sampler in options(loader_option(loader, "sampler")):
                    if not isinstance(sampler, Object) or sampler.type not in _SAMPLERS or id(sampler) in told:
                        continue
                    shuffle = sampler.arguments.get("shuffle", 3)
                    if (
                        sampler.escaped
                        or (isinstance(shuffle, Constant) and not shuffle.value)
                        or sampler.place is None
                    ):
                        continue
                    told.add(id(sampler))
                    yield self.finding(
                        "sampler.set_epoch() is never called: every epoch has the same order",
                        at=sampler.place.location,
                        evidence=[evidence("the loop over the epochs", outer.place.location)],
                        fix="sampler.set_epoch(epoch) at the beginning of each epoch",
                    )


_SAMPLERS = ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler")
