"""D111: a stream that every worker gives as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.datasets import has_workers, is_loader, loader_option, loading
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Class, Function, Object, constant


class IterableDatasetDuplicated(Rule):
    """Every worker yields the whole IterableDataset.

    ## What it finds
    A loader with workers over an `IterableDataset` of the program whose `__iter__` does not ask which worker it runs
    in.

    ## Why it matters
    Each worker has a copy of the dataset and goes through all of it: with four workers an epoch holds every sample
    four times.

    ## Faulty
    ```python
    class Stream(IterableDataset):
        def __iter__(self):
            for line in open(self.path):
                yield parse(line)

    DataLoader(Stream(path), num_workers=4)
    ```

    ## Sound
    ```python
        def __iter__(self):
            info = get_worker_info()
            lines = open(self.path)
            yield from islice(lines, info.id, None, info.num_workers) if info else lines
    ```

    ## When it is silent
    With one worker or none, with a `worker_init_fn`, and for streams that draw random samples.

    ## References
    * https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
    """

    code = "D111"
    name = "iterable-dataset-duplicated"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            inner = [event for event in trace.events if loading(event) is not None]
            for made in trace.named("make"):
                loader = made.result
                if not isinstance(loader, Object) or not is_loader(loader) or id(made.node) in told:
                    continue
                dataset = loader_option(loader, "dataset")
                workers = constant(loader_option(loader, "num_workers"), 0)
                if not has_workers(loader) or not isinstance(workers, int) or workers < 2 or not trace.complete:
                    continue
                if not isinstance(dataset, Object) or not dataset.is_a("torch.utils.data.IterableDataset"):
                    continue
                stream = dataset.method("__iter__")
                if not isinstance(stream, Function) or not isinstance(dataset.type, Class) or dataset.escaped:
                    continue
                own = [e for e in inner if any(c.function.definition is stream.definition for c in e.context.calls())]
                followed = "[read]" in loader.attributes
                if not followed or loader_option(loader, "worker_init_fn") is not None or any(map(_tells_apart, own)):
                    continue
                told.add(id(made.node))
                yield self.finding(
                    "each of the {workers} workers yields the whole stream: every sample comes {workers} times",
                    at=made.location,
                    evidence=[evidence("the stream", stream.place.location if stream.place is not None else None)],
                    fix="take every n-th sample in __iter__: torch.utils.data.get_worker_info() tells which",
                    workers=workers,
                )


def _tells_apart(event: object) -> bool:
    """Whether a stream asks for its worker, or draws at random."""
    name, full = getattr(event, "name", ""), getattr(event, "full", "")
    return name == "get_worker_info" or name.startswith("rand") or full.startswith(("numpy.random.", "random."))
