"""V103 memory-grows."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: steps over which memory must have risen, by how much, and by which share of what there was: an allocator that warms
#: up, optimizer state and caches settle within tens of steps and tens of megabytes
STEPS = 64
BYTES = 64 << 20
SHARE = 0.2
_MEGABYTE = 1 << 20


class MemoryGrows(Rule):
    """Memory rises step by step, because a container keeps what each step adds to it.

    ## What it finds

    Memory of the process (or, where CUDA is in use, memory allocated by torch) that rises over the whole run, together
    with a container of tensors or arrays that grows at the same pace, that accounts for most of the rise and that
    nothing in the program empties or bounds. Tensors that carry a graph are A105.

    ## Why it matters

    The run ends when the memory does: after hours, on the longest epoch, or on the machine with the least of it.

    ## Faulty

    ```python
    history = []
    for x, y in loader:
        out = model(x)
        ...
        history.append(out.detach())
    ```

    ## Sound

    ```python
        history.append(out.detach().mean().item())     # keep what is needed of it
    ```

    or `collections.deque(maxlen=...)`.

    ## When it is silent

    When the rise is less than 64 MB or a fifth, or levels off; when no growing container accounts for it; when the
    container has a bound (`deque(maxlen=...)`, a replay buffer with a capacity, a cache by key, a data set's own
    cache) or is emptied or made anew somewhere, as lists of an epoch's predictions are.

    ## References

    * <https://docs.pytorch.org/docs/stable/notes/faq.html> (My model reports "cuda runtime error(2): out of memory")
    * <https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.memory_allocated.html>
    """

    code = "V103"
    name = "memory-grows"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for growth in run.lifetime.growth:
            rise = growth.last_bytes - growth.first_bytes
            steps = growth.last_step - growth.first_step
            if not growth.steady or steps < STEPS or rise < BYTES or rise < SHARE * growth.first_bytes:
                continue
            yield self.finding(
                "memory rose from {first:.0f} to {last:.0f} MB in {steps} steps: "
                "`{holder}` ({kind}) grows by {pace:.2g} items a step",
                at=run.at(growth.site),
                evidence=[
                    evidence(
                        "{items} items of about {size:.2g} MB each, {held:.0f} MB in all",
                        items=growth.items,
                        size=growth.holder_bytes / max(1, growth.items) / _MEGABYTE,
                        held=growth.holder_bytes / _MEGABYTE,
                    )
                ],
                fix="keep of it what is needed (a number, a summary), write it out, or give `{holder}` a bound",
                first_step=growth.first_step,
                subjects={"growth:losses", "growth:history"},
                first=growth.first_bytes / _MEGABYTE,
                last=growth.last_bytes / _MEGABYTE,
                steps=steps,
                holder=growth.holder,
                kind=growth.kind,
                pace=growth.items_per_step,
            )
