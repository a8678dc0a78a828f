"""D101: a generator that every worker has a copy of."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.datasets import has_workers, loader_option, loading, loads_in_workers, made_while_loading
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import External, Object, Symbol, Value, options


class IdenticalWorkerRng(Rule):
    """Every worker draws the same random numbers, or the same ones each epoch.

    ## What it finds
    A dataset that holds a generator of random numbers of its own (`np.random.RandomState`, `np.random.default_rng`,
    `random.Random`, `torch.Generator`), made in the main process, and draws from it in `__getitem__` while the loader
    has workers.

    ## Why it matters
    Each worker gets a copy of the generator in the same state: all of them draw the same numbers. Workers are made anew
    for each epoch, from the same unused original, so that every epoch repeats them, too. The augmentation is far less
    random than it looks.

    ## Faulty
    ```python
    class Data(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(0)

        def __getitem__(self, i):
            return self.x[i] + self.rng.normal(size=3)

    DataLoader(Data(), num_workers=4)
    ```

    ## Sound
    ```python
        def __getitem__(self, i):
            return self.x[i] + torch.randn(3)  # or NumPy's global generator: torch seeds both in each worker
    ```
    or a generator that is made from `torch.initial_seed()` in `worker_init_fn`.

    ## When it is silent
    Without workers, with a `worker_init_fn`, where `get_worker_info()` is asked, for generators made in `__getitem__`,
    and for the global generators of torch, NumPy and Python, which torch seeds in every worker since 1.9.

    ## References
    * https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
    """

    code = "D101"
    name = "identical-worker-rng"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for event in trace.events if loads_in_workers(trace) else ():
                loader = loading(event)
                if loader is None or not has_workers(loader):
                    continue
                generator = _generator(event)
                if generator is None or generator.place is None or id(generator.place.node) in told:
                    continue
                if loader_option(loader, "worker_init_fn") is not None or _asks_for_worker(trace, event):
                    continue
                told.add(id(generator.place.node))
                yield self.finding(
                    "each worker has a copy of this generator: all of them draw the same numbers, in every epoch",
                    at=generator.place.location,
                    evidence=[evidence("drawn here, in a worker", event.location)],
                    fix="draw with torch (its generator is seeded in each worker), or make the generator in "
                    "worker_init_fn from torch.initial_seed()",
                )


_MAKERS = ("numpy.random.RandomState", "numpy.random.Generator", "random.Random", "torch.Generator")


def _generator(event: Event) -> Value | None:
    """The generator, made before the workers, that something is drawn from."""
    given = event.arguments.keywords.get("generator")
    for value in (*options(event.receiver), *(options(given) if given is not None else ())):
        if made_while_loading(value):
            continue
        if isinstance(value, Object) and value.is_a(*_MAKERS):
            return value
        if isinstance(value, Symbol) and isinstance(value.by, External) and value.by.name == "numpy.random.default_rng":
            return value
    return None


def _asks_for_worker(trace: Trace, event: Event) -> bool:
    """Whether the dataset asks which worker it is in, or seeds its generator there."""
    return any(
        e.name in ("get_worker_info", "seed", "manual_seed", "initial_seed") and loading(e) is not None
        for e in trace.events
    )
