"""V101: one certain GPU, whatever the machine has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Constant, Symbol, Value, options


class HardCodedDevice(Rule):
    """`'cuda:1'` without a fallback.

    ## What it finds
    A network or tensor that is moved to a GPU of a certain number other than the first, written out, in a file that
    nowhere asks which devices there are.

    ## Why it matters
    On a machine with fewer GPUs the program ends ("invalid device ordinal"); on a shared one it takes a device that
    somebody else was given.

    ## Faulty
    ```python
    model.to("cuda:1")
    ```

    ## Sound
    ```python
    device = "cuda" if torch.cuda.is_available() else "cpu"  # and CUDA_VISIBLE_DEVICES from outside
    model.to(device)
    ```

    ## When it is silent
    For the first device, and where `is_available`, `device_count`, an option or the environment has a say.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/cuda.html
    """

    code = "V101"
    name = "hard-coded-device"
    severity = Severity.WARNING

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        if _ASKS.search(reading.file.text):
            return
        for trace in reading.traces:
            for event in trace.named("to", "cuda", "set_device"):
                number = _number(event)
                if number is not None and trace.is_program:
                    yield self.finding(
                        "device {number} is written out: a machine without it ends the program",
                        at=event.location,
                        fix='"cuda" if torch.cuda.is_available() else "cpu", and CUDA_VISIBLE_DEVICES from outside',
                        number=number,
                    )
                    return


_ASKS = re.compile(r"is_available|device_count|argparse|environ|LOCAL_RANK|get_rank|skip")
_WRITTEN = re.compile(r"cuda:([1-9]\d*)")


def _number(event: Event) -> int | None:
    for given in (*event.arguments.positional[:1], *event.arguments.keywords.values()):
        for option in options(given):
            text = _text(option)
            found = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
            if found is not None:
                return int(found[1])
            if event.name in ("cuda", "set_device") and type(text) is int and text > 0:
                return text
    return None


def _text(value: Value) -> object:
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, Symbol) and value.op == "device" and value.inputs and isinstance(value.inputs[0], Constant):
        return value.inputs[0].value
    return None
