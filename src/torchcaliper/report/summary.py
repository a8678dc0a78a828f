"""What a report says of the run as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcaliper.run.record import Run

#: how a process ended, the worst first
_ENDINGS = ("exception", "interrupted", None, "normal")


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run, of one process or several.

    `overhead` is the share of the time spent on watching (0.012 is 1.2 %). `ending` is "normal", "exception",
    "interrupted" or None: it was killed or still runs. `deep_steps` is how many steps were looked at deeply.
    """

    steps: int = 0
    seconds: float = 0.0
    overhead: float | None = None
    ending: str | None = "normal"
    processes: int = 1
    torch_seen: bool = True
    deep_steps: int = 0
    signal: str = ""  # the signal that has killed it, where somebody waited for it

    @classmethod
    def of(cls, runs: Sequence[Run], signal: str = "") -> RunSummary:
        """The summary of a run's records, one per process.

        Ranks step together, so steps and seconds are those of the longest one and are not added.
        """
        if not runs:
            return cls(ending=None, processes=0, torch_seen=False, signal=signal)
        measured = [run for run in runs if run.overhead is not None]
        time = sum(run.seconds for run in measured)
        spent = sum(run.seconds * (run.overhead or 0.0) for run in measured)
        return cls(
            steps=max(run.steps for run in runs),
            seconds=max(run.seconds for run in runs),
            overhead=spent / time if time > 0 else None,
            deep_steps=max(run.deep_steps for run in runs),
            ending=min((run.ending for run in runs), key=_ENDINGS.index),
            processes=len(runs),
            torch_seen=any(run.torch_seen for run in runs),
            signal=signal,
        )
