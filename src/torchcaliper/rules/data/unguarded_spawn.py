"""D103: processes started while a file is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule
from torchcaliper.source.datasets import is_loader
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Object, constant


class UnguardedSpawn(Rule):
    """Processes are started at import level without `if __name__ == "__main__"`.

    ## What it finds
    `torch.multiprocessing.spawn` that runs when the file is imported, and loaders at that level whose workers are to
    be started by spawn or forkserver.

    ## Why it matters
    A spawned process imports the main file first. Without the guard it comes to the same call, and Python stops it:
    "An attempt has been made to start a new process before the current process has finished its bootstrapping phase".

    ## Faulty
    ```python
    torch.multiprocessing.spawn(worker, nprocs=2)
    ```

    ## Sound
    ```python
    if __name__ == "__main__":
        torch.multiprocessing.spawn(worker, nprocs=2)
    ```

    ## When it is silent
    Behind the guard, in functions that only the guard calls, and for workers that are forked (the default on Linux).

    ## References
    * https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods
    """

    code = "D103"
    name = "unguarded-spawn"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            if not trace.is_program:
                continue
            for event in trace.named("spawn", "make"):
                if id(event.node) in told or not _starts(event) or event.file is not reading.file:
                    continue
                if _is_guarded(reading.file.tree, event):
                    continue
                told.add(id(event.node))
                yield self.finding(
                    "processes are started when this file is imported: each of them imports it again and is stopped",
                    at=event.location,
                    fix='put it behind `if __name__ == "__main__":`',
                )


def _starts(event: Event) -> bool:
    if event.name == "spawn":
        return event.full in ("torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn")
    loader = event.result
    if not isinstance(loader, Object) or not is_loader(loader):
        return False
    return constant(loader.arguments.get("multiprocessing_context")) in ("spawn", "forkserver")


def _is_guarded(tree: ast.Module, event: Event) -> bool:
    """Whether what leads to an event at the top level of the file stands behind the guard."""
    calls = list(event.context.calls())
    node = calls[-1].place.node if calls else event.node
    for statement in tree.body:
        if any(inner is node for inner in ast.walk(statement)):
            return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)
    return True
