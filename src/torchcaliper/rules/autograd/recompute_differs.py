"""A115: activation checkpointing whose recomputation is another computation."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import Recomputation
from torchcaliper.source.layers import layer_option, layer_type
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, Symbol, constant

#: looks that must have seen it
_LOOKS = 2


class RecomputeDiffers(Rule):
    """Activation checkpointing recomputes something else, or does a thing twice.

    ## What it finds
    A part under `checkpoint(...)` that writes state (BatchNorm's running statistics, other buffers) and so writes it
    a second time when backward runs it again; random numbers drawn inside with `preserve_rng_state=False`, or from
    Python's or NumPy's generator, which are never put back; and torch's own error that the recomputed tensors have
    other shapes or types.

    ## Why it matters
    Gradients are computed from the recomputed values: with another dropout mask they are those of another network than
    the one whose loss was taken. Running statistics that are updated twice per step move with twice their momentum.

    ## Faulty
    ```python
    h = checkpoint(self.block_with_dropout, h, use_reentrant=False, preserve_rng_state=False)
    ```

    ## Sound
    ```python
    h = checkpoint(self.block_with_dropout, h, use_reentrant=False)
    ```

    ## When it is silent
    BatchNorm in evaluation mode or outside of the checkpointed part; dropout with the state preserved (the default);
    `preserve_rng_state=False` where nothing random is inside; a buffer that is written with the same values again.

    ## References
    * [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
    * [BatchNorm2d](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html)
    """

    code = "A115"
    name = "recompute-differs"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for call in run.numerics.recomputations:
            if call.twice >= _LOOKS:
                yield self._twice(run, call)
            if call.random >= _LOOKS and not call.preserved:
                yield self._random(
                    run,
                    call,
                    "random numbers are drawn inside of this checkpointed call, and preserve_rng_state=False lets the "
                    "recomputation draw others",
                    "leave out preserve_rng_state=False",
                    call.random,
                )
            elif call.random_python >= _LOOKS:
                yield self._random(
                    run,
                    call,
                    "this checkpointed call draws from Python's or NumPy's random generator, whose state checkpoint() "
                    "does not put back: the recomputation draws other numbers",
                    "draw with torch inside (torch.rand(())), or draw before and pass the value in",
                    call.random_python,
                )
        yield from self._refused(run)

    def _twice(self, run: Run, call: Recomputation) -> Finding:
        facts: list[Evidence] = []
        if call.buffer_site is not None:
            facts.append(evidence("the layer is made here", run.at(call.buffer_site)))
        if call.batch_norm:
            told = (
                "BatchNorm inside of this checkpointed call updates its running statistics twice per step: in the "
                "forward, and again when backward recomputes it ({example})"
            )
            fix = "leave the BatchNorm layers out of the checkpointed part (or use a norm without running statistics)"
        else:
            told = "this checkpointed call writes {example}, and backward's recomputation writes it once more"
            fix = "update such state outside of the checkpointed part"
        return self.finding(
            told,
            at=run.at(call.site),
            evidence=(
                evidence(
                    "written twice in each of {looks:,} steps looked at: {buffers}",
                    looks=call.twice,
                    buffers=_some(call.buffers),
                ),
                *facts,
            ),
            fix=fix,
            first_step=call.first_step,
            count=call.twice,
            subjects=(f"site:{call.site}",),
            example=call.buffers[0].rpartition(".")[0] if call.batch_norm else call.buffers[0],
        )

    def _random(self, run: Run, call: Recomputation, told: str, fix: str, times: int) -> Finding:
        return self.finding(
            told,
            at=run.at(call.site),
            evidence=(evidence("seen in {times:,} calls of {function}", times=times, function=call.function),),
            fix=fix,
            first_step=call.first_step,
            count=times,
            subjects=(f"site:{call.site}",),
        )

    def _refused(self, run: Run) -> Iterator[Finding]:
        failure = next((f for f in run.failures if f.kind == "CheckpointError"), None)
        calls = run.numerics.recomputations
        if failure is None or not calls:
            return
        suspects = [c for c in calls if c.random_python or not c.preserved] or calls
        yield self.finding(
            "the recomputation of this checkpointed call does not give the tensors that the forward gave",
            at=run.at(suspects[0].site),
            evidence=(evidence("raised here: {text}", run.at(failure.site), text=failure.message.partition("\n")[0]),),
            fix="make the function depend on its arguments alone: no counters, no random choice of the path, no global "
            "mode that changes between forward and backward (autocast, train/eval)",
            first_step=failure.step,
            subjects=(f"site:{suspects[0].site}", f"site:{failure.site}"),
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[object] = set()
        for trace in reading.traces:
            for event in trace.named("checkpoint"):
                if not event.full.startswith("torch.") or event.context.grad is False:
                    continue
                for finding in self._of_part(trace, event):
                    if finding.location not in told:
                        told.add(finding.location)
                        yield finding

    def _of_part(self, trace: Trace, event: Event) -> Iterator[Finding]:
        preserved = constant(event.arguments.keywords.get("preserve_rng_state"), True)
        for inner in _within(trace, event):
            layer = inner.receiver
            if inner.name == "batch_norm" and inner.training is True and isinstance(layer, Object):
                if constant(layer_option(layer, "track_running_stats"), True) is False:
                    continue
                yield self.finding(
                    "{layer} under checkpoint updates its running statistics twice: once in forward and once more when "
                    "backward computes the part again",
                    at=event.location,
                    evidence=[evidence("the layer runs here", inner.location)],
                    fix="leave the normalisation out of the checkpointed part, or give it the momentum "
                    "1 - sqrt(1 - momentum)",
                    layer=layer_type(layer),
                )
                return
            buffer = inner.receiver
            if inner.name in _ACCUMULATES and isinstance(buffer, Symbol) and buffer.op == "buffer":
                yield self.finding(
                    "a buffer is moved on under checkpoint: once in forward and once more when backward computes the "
                    "part again",
                    at=event.location,
                    evidence=[evidence("it is moved here", inner.location)],
                    fix="move the buffer outside of the checkpointed part",
                )
                return
            drops = inner.name.startswith("dropout") and inner.training is True
            if drops and preserved is False and not (isinstance(layer, Object) and _is_off(layer)):
                yield self.finding(
                    "dropout under checkpoint with preserve_rng_state=False: backward computes the part again with "
                    "other random numbers, and the gradients belong to neither",
                    at=event.location,
                    evidence=[evidence("random numbers are drawn here", inner.location)],
                    fix="leave preserve_rng_state at True",
                )
                return
            if inner.full.startswith(("random.", "numpy.random.")) and inner.name not in ("seed", "default_rng"):
                yield self.finding(
                    "numbers from {generator} are drawn under checkpoint: its state is not put back, so backward "
                    "computes the part with other ones",
                    at=event.location,
                    evidence=[evidence("drawn here", inner.location)],
                    fix="draw them with torch (torch.rand(())), or outside of the checkpointed part",
                    generator="NumPy" if inner.full.startswith("numpy.") else "Python's random",
                )
                return


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


#: in-place operations that give another value each time
_ACCUMULATES = ("add_", "sub_", "mul_", "div_", "lerp_")


def _within(trace: Trace, event: Event) -> Iterator[Event]:
    """What happens in the part that a checkpoint runs."""
    for inner in trace.events[event.index + 1 :]:
        if inner.node is event.node or any(call.place.node is event.node for call in inner.context.calls()):
            yield inner


def _is_off(layer: Object) -> bool:
    return bool(constant(layer_option(layer, "p"), 0.5) == 0)
