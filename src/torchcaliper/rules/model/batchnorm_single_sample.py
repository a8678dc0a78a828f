"""M112."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run
from torchcaliper.source.datasets import last_batch, loader_option, training_loaders
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.layers import layer_type
from torchcaliper.source.shapes import shape_of
from torchcaliper.source.trace import Event, Loop, Reading, Trace
from torchcaliper.source.values import Place, Symbol, constant

_MESSAGE = "Expected more than 1 value per channel when training"


class BatchnormSingleSample(Rule):
    """BatchNorm in training mode given one value per channel.

    ## What it finds
    The failure "Expected more than 1 value per channel when training", told where it was made: at the DataLoader
    whose last batch holds a single sample, at the call that trains on one sample, or at the call that predicts for
    one sample without `eval()`.

    ## Why it matters
    The variance of one value is zero, so there is nothing to normalise by and PyTorch refuses. With a loader the
    program runs through the whole first epoch before it fails, and which dataset sizes fail depends on the batch size.

    ## Faulty
        loader = DataLoader(dataset, batch_size=32, shuffle=True)      # 321 samples: the last batch has one

    ## Sound
        loader = DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

    ## When it is silent
    As long as nothing fails: a last batch of one picture is accepted by BatchNorm2d, which still has its pixels.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html
    * https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "M112"
    name = "batchnorm-single-sample"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.message.startswith(_MESSAGE):
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        layer, shape = known.get("batch_norm") or "BatchNorm", known.get("input", "?")
        shown = [
            evidence(
                "{layer} got {shape} here", run.at(known.get("layer_site", failure.site)), layer=layer, shape=shape
            )
        ]
        call = known.get("forward_site", failure.site)
        samples, size = known.get("samples"), known.get("batch_size")
        site, fix = call, "Give it at least two samples, or leave batch normalisation out here (GroupNorm, LayerNorm)."
        if known.get("grad") is False:
            fix = "Call eval() on the model before it predicts; then BatchNorm uses its running statistics."
            shown.append(evidence("the forward ran without gradients, but in training mode", run.at(call)))
        elif known.get("loader_site") is not None and isinstance(size, int):
            site = known["loader_site"]
            shown.append(evidence("the batch of one sample reached the model here", run.at(call)))
            if size == 1:
                fix = "Use a batch_size of at least 2."
                shown.append(evidence("the loader's batch_size is 1"))
            elif isinstance(samples, int) and samples % size == 1 and not known.get("drop_last"):
                fix = "drop_last=True in the training loader"
                shown.append(_remainder(samples, size))
        return self.finding(
            "{layer} cannot normalise one value per channel: it was given {shape} in training mode",
            at=run.at(site),
            evidence=shown,
            fix=fix,
            first_step=failure.step,
            subjects=[f"root:{known['root']}"] if "root" in known else [],
            layer=layer,
            shape=shape,
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for at, message, fix, norm in _single(trace):
                if id(at.node) in told:
                    continue
                told.add(id(at.node))
                yield self.finding(
                    message + ", and {layer} needs more than one value per channel in training mode",
                    at=at.location,
                    evidence=[evidence("the layer runs here", norm.location)],
                    fix=fix,
                    layer=layer_type(norm.receiver),
                )


def _remainder(samples: int, size: int) -> Evidence:
    return evidence(
        "{samples} samples in batches of {size}: {full} full batches and a last one of a single sample",
        samples=samples,
        size=size,
        full=samples // size,
    )


def _single(trace: Trace) -> Iterator[tuple[Place, str, str, Event]]:
    """Where one sample is normalised: the place, what is wrong, the fix, the layer."""
    norms = [e for e in trace.named("batch_norm") if e.training is True and _is_flat(e)]
    if not norms:
        return
    for loader, _ in training_loaders(trace).values():
        size = loader_option(loader, "batch_size")
        alone = not loader.arguments.open and (size is None or constant(size) == 1)
        found = next((n for n in norms if depends_on(n.value("input"), {id(loader)})), None)
        if found is not None and loader.place is not None and (alone or last_batch(loader) == 1):
            what = "this loader gives single samples" if alone else "the last batch of this loader holds one sample"
            yield loader.place, what, "drop_last=True, or a batch size that leaves no single sample over", found
    for norm in norms:
        shape = shape_of(norm.value("input"))
        calls = [e for e in trace.named("enter") if e.index < norm.index]
        whole = next((e for e in reversed(calls) if not _in_forward(e)), None)
        if whole is None:
            continue
        if shape is not None and shape[0] == 1:
            yield whole.place, "one sample is given here", "model.eval() before single samples are predicted", norm
        elif any(_leaves_one(loop) for loop in whole.context.loops()):
            what = "the last part of this split holds one sample"
            yield whole.place, what, "leave the last part out, or another size", norm


def _is_flat(norm: Event) -> bool:
    """Whether a layer normalises over the samples alone: no positions beside them."""
    shape = shape_of(norm.value("input"))
    if shape is None:
        return layer_type(norm.receiver) == "BatchNorm1d"
    return all(size == 1 for size in shape[2:])


def _in_forward(event: Event) -> bool:
    return any(call.function.name == "forward" for call in event.context.calls())


def _leaves_one(loop: Loop) -> bool:
    """Whether a loop goes through `indices.split(n)` whose last part is a single one."""
    over = loop.over
    if not isinstance(over, Symbol) or over.op != "split" or not over.inputs:
        return False
    shape, size = shape_of(over.inputs[0]), constant(over.options.get("split_size_or_sections"))
    if size is None and len(over.inputs) > 1:
        size = constant(over.inputs[1])
    if not shape or not isinstance(shape[0], int) or not isinstance(size, int) or size <= 1:
        return False
    return shape[0] % size == 1
