"""C110: a checkpoint that is written over the last good one."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.steps import repeats
from torchcaliper.source.trace import Event, Loop, Reading
from torchcaliper.source.values import Constant, Object, Phi, Symbol, Value, options


class NonAtomicSave(Rule):
    """A crash while saving destroys the last good checkpoint.

    ## What it finds
    `torch.save` in a loop, again and again to one path, where nothing is written beside it and moved into its place.

    ## Why it matters
    Writing empties the file first. A job that is killed while it writes (a time limit, a full disk, pre-emption) leaves
    neither the old checkpoint nor a whole new one.

    ## Faulty
    ```python
    for epoch in range(epochs):
        train()
        torch.save(state, "last.pt")
    ```

    ## Sound
    ```python
    torch.save(state, "last.pt.tmp")
    os.replace("last.pt.tmp", "last.pt")
    ```

    ## When it is silent
    For paths that differ from turn to turn, for buffers in memory, for a save that a condition (a better score) makes
    rare, and where the program renames files.

    ## References
    * https://docs.python.org/3/library/os.html#os.replace
    """

    code = "C110"
    name = "non-atomic-save"
    severity = Severity.ADVICE

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if any(True for _ in trace.named("replace", "rename", "move")):
                continue
            told: set[int] = set()
            for save in trace.named("save"):
                loop = save.context.loop
                if save.full != "torch.save" or loop is None or not repeats(loop) or id(save.node) in told:
                    continue
                path = save.arguments.get("f", 1)
                if not save.context.always_in(loop) or not _is_one_path(path, loop, save):
                    continue
                told.add(id(save.node))
                yield self.finding(
                    "the checkpoint is written over the last one in every turn: a crash while writing leaves none",
                    at=save.location,
                    evidence=[evidence("the loop", loop.place.location)],
                    fix="torch.save(state, path + '.tmp'), then os.replace(path + '.tmp', path)",
                )


def _is_one_path(path: Value | None, loop: Loop, save: Event) -> bool:
    """Whether a path is a file's and the same in every turn."""
    if path is None:
        return False
    for option in options(path):
        if isinstance(option, Constant):
            if not isinstance(option.value, str):
                return False
        elif isinstance(option, Symbol):
            anew = option.context is not None and loop in option.context.loops()
            if anew or option.op in ("entered", "element", "index", "key", "call:BytesIO"):
                return False
        elif isinstance(option, Object):
            if not option.is_a("pathlib.Path"):
                return False
        else:
            return False
    return not isinstance(path, Phi) and not depends_on(path, {id(save.result)})
