"""V102: the host waits for the device in every step."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.graphs import reach
from torchcaliper.source.steps import backwards, repeats
from torchcaliper.source.trace import Reading, Trace
from torchcaliper.source.values import Constant, Symbol, Value, options


class StepSynchronises(Rule):
    """`.item()`, `.cpu()` or a printed tensor in each step stalls the device.

    ## What it finds
    A number is taken from a tensor of the network (`item`, `tolist`, `numpy`, `cpu`, `float(...)`) in every turn of a
    training loop, in a program that moves its network to an accelerator.

    ## Why it matters
    Work on a GPU is queued. Asking for a number waits until all that was queued is done, and the queue is empty while
    the host prepares the next step. With small steps that costs a large share of the time.

    ## Faulty
    ```python
    for x, y in loader:
        ...
        running += loss.item()
    ```

    ## Sound
    ```python
    for x, y in loader:
        ...
        running += loss.detach()
    print(running.item() / len(loader))
    ```

    ## When it is silent
    On CPUs, for numbers taken now and then (behind an `if`), in evaluation, and for tensors that are not the network's.

    ## References
    * https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "V102"
    name = "step-synchronises"
    severity = Severity.ADVICE

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not trace.is_program or not _uses_accelerator(trace):
                continue
            told: set[int] = set()
            loops = {id(b.context.loop): b.context.loop for b in backwards(trace)}
            for event in trace.named("item", "tolist", "numpy", "cpu", "float", "int"):
                loop = event.context.loop
                if loop is None or id(loop) not in loops or id(loop) in told or not repeats(loop):
                    continue
                if not event.context.always_in(loop) or not _is_network_output(event.receiver):
                    continue
                told.add(id(loop))
                yield self.finding(
                    "{name} in every step waits for the device: nothing is queued meanwhile",
                    at=event.location,
                    evidence=[evidence("the training loop", loop.place.location)],
                    fix="add up tensors (loss.detach()), and take the number once per epoch or every n steps",
                    name=f".{event.name}()" if event.full.startswith("torch.") else f"{event.name}(...)",
                )


def _uses_accelerator(trace: Trace) -> bool:
    """Whether something is moved to a device that may be a GPU."""
    for event in trace.named("to", "cuda"):
        if event.name == "cuda":
            return True
        if any(_is_cuda(option) for given in event.arguments.all() for option in options(given)):
            return True
    return False


def _is_cuda(value: Value) -> bool:
    if isinstance(value, Constant):
        return isinstance(value.value, str) and value.value.startswith("cuda")
    if isinstance(value, Symbol) and value.op == "device":
        given = (*value.inputs, *value.options.values())
        return any(_is_cuda(option) for part in given for option in options(part))
    return False


def _is_network_output(value: Value | None) -> bool:
    found = reach(value)
    return found.parameters or bool(found.cuts or found.unrecorded)
