"""D109: batches in double precision because NumPy's default is."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.layers import is_network
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Symbol, Value, name_of, options


class Float64Data(Rule):
    """Data and network in double precision, which nobody chose.

    ## What it finds
    A network that is trained and turned to double precision, beside tensors made of NumPy arrays that are float64
    because NumPy's random numbers and constants are.

    ## Why it matters
    Double precision takes twice the memory, twice the time on a CPU and up to 64 times the time on a GPU, and trains
    nothing better. `.double()` is mostly there to make an error about types go away.

    ## Faulty
    ```python
    x = torch.from_numpy(np.random.normal(size=(100, 8)))
    net = net.double()
    ```

    ## Sound
    ```python
    x = torch.from_numpy(np.random.normal(size=(100, 8))).float()
    ```

    ## When it is silent
    Where double precision is set as the default, for `gradcheck`, and for networks that are not trained.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html
    """

    code = "D109"
    name = "float64-data"
    severity = Severity.ADVICE

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not any(b.context.loop is not None for b in trace.named("backward")):
                continue
            if any(True for _ in trace.named("set_default_dtype", "gradcheck")):
                continue
            arrays = [e for e in trace.named("from_numpy", "tensor", "as_tensor") if _is_float64(e)]
            for event in trace.named("double", "to"):
                wide = event.name == "double" or name_of(event.arguments.get("dtype", 0)) in (
                    "torch.float64",
                    "torch.double",
                )
                if arrays and wide and is_network(event.receiver):
                    yield self.finding(
                        "network and data are in double precision, because NumPy's arrays are: twice the memory and "
                        "time",
                        at=event.location,
                        evidence=[evidence("made of a float64 array", arrays[0].location)],
                        fix="turn the data to float32 (.float()), and leave the network as it is",
                    )
                    break


#: NumPy's calls that give float64 unless they are told otherwise
_MADE = frozenset(
    "normal uniform standard_normal random rand randn random_sample zeros ones linspace loadtxt genfromtxt".split()
)
_DOUBLE = ("torch.float64", "torch.double")
_ARITHMETIC = frozenset("add sub mul truediv pow matmul neg getitem".split())


def _is_float64(event: Event) -> bool:
    made = event.result
    if isinstance(made, Symbol) and made.options.get("dtype") is not None:
        return False
    given = event.arguments.positional[0] if event.arguments.positional else None
    return any(_wide(option) for option in options(given))


def _wide(value: Value, depth: int = 0) -> bool:
    if not isinstance(value, Symbol) or depth > 12:
        return False
    if value.op.startswith("call:"):
        return value.op[5:] in _MADE and "dtype" not in value.options
    if value.op in _ARITHMETIC:
        return any(_wide(part, depth + 1) for part in value.inputs)
    return False
