"""L116: positions that count in a loss and should not, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.padding import ends_in, padding_of, unpadded_lengths_differ
from torchcaliper.source.targets import Targets, targets_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, constant

#: what cross_entropy and nll_loss leave out when nothing else is said
_DEFAULT = -100


class IgnoredPositionsInLoss(Rule):
    """Padding counts in a loss, or what should be learnt does not.

    ## What it finds
    Targets padded with `pad_sequence` that go into `cross_entropy` or `nll_loss` with the padding among them, and no
    `ignore_index` of that value. Targets from which the padding is left out by its value, while that value also is the
    last token of each sequence.

    ## Why it matters
    Padding is easy to predict: the loss falls with each longer batch, and most of the gradient is about nothing. Where
    the end of the sequence is left out instead, the network never learns to stop.

    ## Faulty
    ```python
    ids = pad_sequence(texts, batch_first=True)  # 0 is padding
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    ```

    ## Sound
    ```python
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
    ```

    ## When it is silent
    Where targets are written over, chosen by a mask or weighted before the loss; for losses without reduction; for
    sequences that are all of one length.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html
    """

    code = "L116"
    name = "ignored-positions-in-loss"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            if next(trace.named("pad_sequence"), None) is None:
                continue
            for loss in trace.named("cross_entropy", "nll_loss"):
                if loss.context.grad is False or id(loss.node) in told:
                    continue
                for targets in targets_of(trace, loss):
                    finding = self._of(trace, loss, targets)
                    if finding is not None:
                        told.add(id(loss.node))
                        yield finding
                        break

    def _of(self, trace: Trace, loss: Event, targets: Targets) -> Finding | None:
        padding = padding_of(targets.padded)
        given = loss.value("ignore_index")
        ignored = _DEFAULT if given is None else constant(given)
        if padding is None or not isinstance(ignored, int):
            return None
        by_value = [written for written in targets.written if written.where == padding and written.value == ignored]
        if ignored == padding or by_value:
            if not ends_in(targets.padded, padding):
                return None
            place = by_value[0].place if by_value else loss.place
            return self.finding(
                "{value} is padding and the last token of each sequence: its end is left out of the loss, and never "
                "learnt",
                at=place.location,
                evidence=[evidence("padded here", targets.padded.place.location if targets.padded.place else None)],
                fix="leave out padding by the lengths of the sequences, or give padding a value of its own",
                subjects=[f"loss:{loss.location}"],
                value=padding,
            )
        if targets.written or loss.value("weight") is not None or constant(loss.value("reduction"), "mean") == "none":
            return None
        if not unpadded_lengths_differ(targets.padded):
            return None
        declared = _declares(trace, padding)
        return self.finding(
            "padding counts in this loss: targets are padded with {value}, which is not left out",
            at=loss.location,
            evidence=[evidence("padded here", targets.padded.place.location if targets.padded.place else None)],
            severity=None if declared else Severity.WARNING,
            fix="ignore_index={value}",
            subjects=[f"loss:{loss.location}"],
            value=padding,
        )


def _declares(trace: Trace, padding: int) -> bool:
    """Whether an embedding of the program says that this value is padding."""
    for event in trace.named("embedding"):
        by = event.receiver
        if isinstance(by, Object) and constant(by.arguments.get("padding_idx", 2)) == padding:
            return True
    return False
