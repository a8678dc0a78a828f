"""D116: a file opened before the fork and read in every worker."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.datasets import has_workers, loader_option, loading, loads_in_workers, made_while_loading
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import External, Object, Symbol, Value, options


class HandleSharedByFork(Rule):
    """An open file, HDF5 file or database is read in every worker.

    ## What it finds
    A dataset that opens a file (`open`, `h5py.File`, `lmdb.open`, `zipfile.ZipFile`, `tarfile.open`,
    `sqlite3.connect`) in the main process and reads from it in `__getitem__`, while the loader has workers.

    ## Why it matters
    After a fork all processes share one position in the file: one worker seeks while another reads, and records are
    mixed up, without an error. HDF5 and LMDB keep caches that a fork does not survive.

    ## Faulty
    ```python
    class Records(Dataset):
        def __init__(self, path):
            self.file = open(path, "rb")

        def __getitem__(self, i):
            self.file.seek(i * SIZE)
            return self.file.read(SIZE)
    ```

    ## Sound
    ```python
        def __getitem__(self, i):
            if self.file is None:
                self.file = open(self.path, "rb")  # each worker its own
    ```

    ## When it is silent
    Without workers, for files that are opened in `__getitem__` or in a `worker_init_fn`, and for loaders that start
    their workers by spawn.

    ## References
    * https://docs.h5py.org/en/stable/mpi.html
    * https://lmdb.readthedocs.io/en/release/#environment-class
    """

    code = "D116"
    name = "handle-shared-by-fork"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for event in trace.events if loads_in_workers(trace) else ():
                loader = loading(event)
                if loader is None or not has_workers(loader):
                    continue
                handle = _handle(event)
                if handle is None or handle.place is None or id(handle.place.node) in told:
                    continue
                if loader_option(loader, "worker_init_fn") is not None:
                    continue
                told.add(id(handle.place.node))
                yield self.finding(
                    "this is opened in the main process and read in every worker: they share one position in the file",
                    at=handle.place.location,
                    evidence=[evidence("read here, in a worker", event.location)],
                    fix="open it in __getitem__ on first use, so that each worker has its own",
                )


_OPENS = frozenset({"builtins.open", "lmdb.open", "tarfile.open", "sqlite3.connect", "gzip.open", "io.open"})
_TYPES = ("h5py.File", "zipfile.ZipFile", "tarfile.TarFile", "tables.File")
#: what does not read
_HARMLESS = frozenset({"close", "fileno", "set", "closed", "flush"})


def _handle(event: Event) -> Value | None:
    """The handle, opened before the workers, that something is read from."""
    if event.name in _HARMLESS:
        return None
    for value in options(event.receiver):
        if made_while_loading(value):
            continue
        if isinstance(value, Object) and value.is_a(*_TYPES):
            return value
        if isinstance(value, Symbol) and isinstance(value.by, External) and value.by.name in _OPENS:
            return value
    return None
