"""G103: a network that is compiled in every turn of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.steps import repeats
from torchcaliper.source.trace import Reading


class CompileInLoop(Rule):
    """`torch.compile` is called in every step.

    ## What it finds
    A call of `torch.compile` in the loop over the batches, that is, in the loop that calls `backward()` or a step.

    ## Why it matters
    Each call makes a new wrapper with caches of its own: the first call of each is compiled again, which takes seconds.

    ## Faulty
    ```python
    for x, y in loader:
        loss = criterion(torch.compile(model)(x), y)
    ```

    ## Sound
    ```python
    compiled = torch.compile(model)
    for x, y in loader:
        loss = criterion(compiled(x), y)
    ```

    ## When it is silent
    Where it is compiled once, before the loop; in loops over networks or settings (benchmarks, tests), which do not
    train in the same loop.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    """

    code = "G103"
    name = "compile-in-loop"
    severity = Severity.WARNING

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for made in trace.named("compile"):
                loop = made.context.loop
                if made.full != "torch.compile" or loop is None or not repeats(loop) or id(made.node) in told:
                    continue
                if made.context.condition is not None:
                    continue
                if not any(b.context.loop is loop for b in trace.named("backward")):
                    continue
                told.add(id(made.node))
                yield self.finding(
                    "torch.compile is called in every turn of the training loop: each result is compiled anew",
                    at=made.location,
                    evidence=[evidence("the loop", loop.place.location)],
                    fix="compile once, before the loop",
                )
