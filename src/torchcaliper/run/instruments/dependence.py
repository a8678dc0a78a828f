"""What outputs depend on: other samples of the batch, and later steps of a sequence.

Works in close looks. When a loss is computed, a fixed vector is put on the prediction for one sample, or for one step
of a network that is trained to predict the next one, and taken back through the program's graph. A dependence counts
once it has been measured in two looks.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run.events import Backward, Forward, LoaderEpoch, LossCall, Operation, Step
from torchcaliper.run.hooked import HookWatch
from torchcaliper.run.influence import Axis, Cause, Influence, Point, probe_vector
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.next_step import Sequence, sequence_of
from torchcaliper.run.record_dependence import Culprit, FutureRead, Joining, SampleMixing
from torchcaliper.run.regrouping import exchanged, is_torn
from torchcaliper.run.trace import Op, Trace, tensors

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: values of an input that are copied for the length of a look, to be compared with targets
_COPIED = 1 << 21
#: measurements of one loss, and clean or dirty ones after which it is left alone
_MEASURED, _CLEAN, _DIRTY = 8, 2, 3
#: BatchNorm layers that are gone below in one measurement
_BELOW = 3
#: cats that are remembered for a loss that fails on their number of rows
_ROWS = 64
_NORMS = ("batch_norm", "instance_norm", "group_norm")

_FAMILIES = (
    ("recurrent", ("lstm", "gru", "rnn_tanh", "rnn_relu")),
    ("softmax", ("softmax", "log_softmax", "softmin", "gumbel_softmax", "normalize", "norm", "linalg_vector_norm")),
    ("attention", ("scaled_dot_product_attention",)),
    ("convolution", ("conv1d", "conv2d", "conv3d", "conv_transpose1d")),
    ("reshape", ("view", "reshape", "view_as", "reshape_as", "unflatten")),
    ("reduction", ("mean", "sum", "max", "amax", "cumsum", "flip", "roll", "logsumexp", "std", "var", "min", "amin")),
    ("norm", ("batch_norm", "instance_norm", "group_norm", "layer_norm")),
    ("product", ("matmul", "bmm", "baddbmm", "einsum", "mm", "rmatmul", "imatmul")),
)


def family(op: Op) -> str:
    """The kind of operator."""
    return next((name for name, names in _FAMILIES if op.name in names), "other")


class _Known:
    """What has been measured at one loss."""

    __slots__ = ("clean", "dirty", "measured")

    def __init__(self) -> None:
        self.measured = self.clean = self.dirty = 0

    @property
    def open(self) -> bool:
        return self.measured < _MEASURED and self.clean < _CLEAN and self.dirty < _DIRTY


class DependenceWatch(Instrument):
    """Measures dependence over batch and time."""

    name = "dependence"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.trace = Trace(session)
        self._hooks = HookWatch(session.local)
        session.on_lift(self._hooks.take_off)
        self._stepping = False
        self._on = False
        self._inputs: dict[int, torch.Tensor] = {}  # copies, for the length of a look
        self._shapes: dict[int, tuple[int, ...]] = {}
        self._root: int | None = None
        self._wrapped = False
        self._loader: tuple[int, bool] | None = None  # size of its batches, shuffled
        self._samples: dict[int | None, _Known] = {}
        self._steps: dict[int | None, _Known] = {}
        self._seen_losses = 0
        self._rows: list[Op] = []  # cats of equal tensors along their first axis
        self._failures = 0

    # a look

    def _begin(self) -> None:
        self._on = True
        self.trace.clear()
        self._hooks.seen = False
        self._hooks.put_on()

    def _end(self) -> None:
        if self._on:
            self._on = False
            self.trace.clear()
            self._inputs.clear()
            self._shapes.clear()
            self._hooks.take_off()
            self._seen_losses = 0
            self._wrapped = False

    def on_loader_epoch(self, event: LoaderEpoch) -> None:
        size = getattr(event.loader, "batch_size", None)
        sampler = type(getattr(event.loader, "sampler", None)).__name__
        self._loader = (size, "Random" in sampler) if isinstance(size, int) and size > 1 else None

    @property
    def _batch(self) -> tuple[int, bool] | None:
        """Size of the loader's batches and whether they are shuffled, if the network was given one of them."""
        if self._loader is None or not any(self._loader[0] in s[:2] for s in self._shapes.values()):
            return None
        return self._loader

    def on_forward_begin(self, event: Forward) -> None:
        if not self.session.looking or not event.grad or self._stepping:
            return
        if not self._on:
            self._begin()
        self._hooks.put_on()  # a backward before this forward has taken it off
        self._root = self.session.objects.root(event.root)
        if event.root is not event.module or _is_sharded(event.root) or _is_hooked(event.root):
            self._wrapped = True
        for tensor in tensors((*event.args, event.kwargs), 3):
            self._take_in(tensor)

    def _take_in(self, tensor: torch.Tensor) -> int | None:
        if tensor.requires_grad or tensor.is_sparse or tensor.is_nested or not tensor.dim() or len(self._shapes) > 32:
            return None
        number = len(self._shapes)
        self._shapes[number] = tuple(tensor.shape)
        self.trace.input(tensor, number)
        if tensor.dim() > 1 and tensor.numel() <= _COPIED and not tensor.is_complex():
            self._inputs[number] = tensor.detach().clone()
        return number

    def _is_input(self, ids: torch.Tensor) -> bool:
        """Whether ids made from an input still hold its values in their places."""
        known = [self._inputs[i] for i in self.trace.inputs_of(ids) if i in self._inputs]
        return not known or any(k.numel() == ids.numel() and bool((k.reshape(ids.shape) == ids).all()) for k in known)

    def on_forward_end(self, event: Forward) -> None:
        if self._on and isinstance(event.output, torch.Tensor):
            self.trace.mark_output(event.output)

    def on_operation(self, event: Operation) -> None:
        if self._stepping:
            return
        if not self._on:
            if not event.grad:
                return
            self._begin()
        self._hooks.look()
        if event.name == "embedding" and len(event.args) > 1 and isinstance(event.args[1], torch.Tensor):
            ids = event.args[1]  # torch.embedding(weight, ids, ...)
            if not self.trace.inputs_of(ids) or not self._is_input(ids):  # made within, or an input that was moved
                self._take_in(ids)
        op = self.trace.add(event)
        if op is not None and op.name in ("cat", "concat", "concatenate") and len(self._rows) < _ROWS:
            dim = event.kwargs.get("dim", event.args[1] if len(event.args) > 1 else 0)
            if dim == 0 and len(set(op.sizes)) == 1 and len(op.sizes) > 1 and op.sizes[0]:
                self._rows.append(op)

    def on_step_begin(self, event: Step) -> None:
        self._stepping = True
        self._rows.clear()
        self._end()

    def on_step_end(self, event: Step) -> None:
        self._stepping = False

    def on_backward_begin(self, event: Backward) -> None:
        if not self._on:
            return
        if not self._seen_losses and len(event.tensors) == 1 and self._batch is not None and self._may_measure():
            output = self.trace.output_below(event.tensors[0])
            if output is not None:
                self._without_loss_function(event, output)
        self._hooks.take_off()

    def refresh(self) -> None:
        for failure in self.run.failures[self._failures :]:
            if failure.call == "loss" and self._rows:
                numbers = {int(n) for n in re.findall(r"\d+", failure.message)}
                for op in self._rows:
                    if {op.shape[0], op.sizes[0][0]} <= numbers:
                        self._multiplied(op, failure.site)
                        break
        self._failures = len(self.run.failures)

    def _multiplied(self, op: Op, site: int | None) -> None:
        if any((j.kind, j.site) == ("batch-multiplied", op.site) for j in self.run.dependence.joinings):
            return
        self.run.dependence.joinings.append(
            Joining(
                op.name,
                op.site,
                self._root,
                "batch-multiplied",
                len(op.sizes),
                list(op.sizes[0]),
                list(op.shape),
                op.sizes[0][0],
                "",
                site,
                first_step=self.session.step,
            )
        )

    # losses

    def _may_measure(self) -> bool:
        return not (
            self._wrapped
            or self._hooks.seen
            or torch.is_anomaly_enabled()
            or torch.is_deterministic_algorithms_warn_only_enabled()
            or nn.modules.module._has_any_global_hook()  # type: ignore[no-untyped-call]
            or torch._C._len_torch_dispatch_stack()
        )

    def on_loss_end(self, event: LossCall) -> None:
        if not self._on or not event.grad or len(event.args) < 2:
            return
        prediction, target = event.args[0], event.args[1]
        if not isinstance(prediction, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        if prediction.grad_fn is None or target.requires_grad or not prediction.is_floating_point():
            return
        self._seen_losses += 1
        if self._seen_losses > 4 or not target.dim() or not self._may_measure():
            return
        if prediction.dim() and prediction.shape[0] != target.shape[0]:  # broadcast against each other
            for op in self._rows:
                if (op.shape[0], op.sizes[0][0]) == (prediction.shape[0], target.shape[0]):
                    self._multiplied(op, event.site)
                    break
        samples = self._samples.setdefault(event.site, _Known())
        steps = self._steps.setdefault(event.site, _Known())
        if not samples.open and not steps.open:
            return
        graph: Influence | None = None
        sequence = sequence_of(prediction, target, self._inputs)
        if sequence is not None and steps.open and sequence.batch != sequence.steps:
            graph = Influence(self.trace, prediction)
            if graph.whole:
                self._later_steps(event.site, steps, graph, prediction, target, sequence)
        if samples.open:
            graph = graph if graph is not None else Influence(self.trace, prediction)
            self._other_samples(event.site, samples, graph, prediction, target, sequence)

    def _without_loss_function(self, event: Backward, output: Point) -> None:
        """The program computes its loss itself: the network's output is looked at."""
        samples = self._samples.setdefault(event.site, _Known())
        if samples.open:
            self._other_samples(event.site, samples, Influence(self.trace, output), event.tensors[0], None, None)

    # later steps

    def _later_steps(
        self,
        site: int | None,
        known: _Known,
        graph: Influence,
        prediction: torch.Tensor,
        target: torch.Tensor,
        found: Sequence,
    ) -> None:
        known.measured += 1
        sample = found.batch // 2
        last = min(found.length, found.steps - 1) - 1
        step = _a_valid_step(target, found, sample, max(0, last // (2 + known.measured % 2)))
        if step is None or step >= last + 1:
            return
        shape = tuple(prediction.shape)
        vector = torch.zeros_like(prediction, memory_format=torch.contiguous_format).detach()
        if (prediction.dim() == 3 and prediction.shape != target.shape) or found.channels:
            vector[sample, :, step] = probe_vector((shape[1],), prediction)
        elif prediction.dim() == 2 and shape[0] == found.batch * found.length:
            vector[found.row(sample, step)] = probe_vector((shape[1],), prediction)
        else:
            part = vector[step, sample] if found.time_first else vector[sample, step]
            part.copy_(probe_vector(tuple(part.shape), prediction))
        sizes = {found.steps, found.length}

        def axis(shape: tuple[int, ...], op: Op) -> tuple[int, int | None] | None:
            at = [i for i, d in enumerate(shape) if d in sizes]
            if op.enters and op.name not in _KEEPING + _CONVOLUTIONS + _RECURRENT:
                return None
            if len(shape) < 2 or not at or (len(at) > 1 and op.name not in _KEEPING):
                return None  # a square may be all pairs of steps
            if shape[0] == found.batch and shape[1] in sizes:
                return 1, sample
            if shape[1] == found.batch and shape[0] in sizes:
                return 0, sample
            if op.enters and not (found.channels and shape[0] == found.batch and at[0] == len(shape) - 1):
                return None
            return (at[0], None) if len(at) == 1 else None

        within = graph.entering(frozenset((found.input,)))
        values = graph.arrivals(vector, axis, within)
        if values is None:
            return
        cause: Cause | None = None
        if graph.is_reached(values, lambda index: index <= step):
            everywhere = graph.everywhere(vector, axis, within)
            cause = graph.cause(everywhere, lambda index: index <= step) if everywhere is not None else None
            if cause is None:
                return
        if found.shift == 0:
            arrives = [row for point, row in values.items() if graph.ops[point].enters]
            own = any(row[step] > 0 for row in arrives if len(row) > step)
            earlier = any(v > 0 for row in arrives for v in row[:step])
            if cause is None and own and earlier:
                self._keep_copy(site, known, found, step)
            else:
                known.clean += 1
            return
        if cause is None:
            cause = _ahead_at_input(graph, values, step, found)
        if cause is None:
            known.clean += bool(values)
            return
        if any(op.name in _NORMS for op in cause.ops):
            return
        culprit = self._time_culprit(cause)
        known.dirty += 1
        reads = self.run.dependence.future_reads
        for read in reads:
            if (read.site, read.culprit.site, read.culprit.operator) == (site, culprit.site, culprit.operator):
                read.times += 1
                return
        reads.append(
            FutureRead(
                root=self._root,
                position=step,
                length=found.steps,
                reached=cause.reached,
                strength=min(cause.strength, 1e6),
                culprit=culprit,
                site=site,
                first_step=self.session.step,
            )
        )

    def _keep_copy(self, site: int | None, known: _Known, found: Sequence, step: int) -> None:
        known.dirty += 1
        for read in self.run.dependence.future_reads:
            if read.copies and read.site == site:
                read.times += 1
                return
        self.run.dependence.future_reads.append(
            FutureRead(
                root=self._root,
                position=step,
                length=found.steps,
                reached=0,
                strength=0.0,
                culprit=Culprit("loss", "other", site),
                copies=True,
                site=site,
                first_step=self.session.step,
            )
        )

    def _time_culprit(self, cause: Cause) -> Culprit:
        masks = [op for op in cause.ops if op.masked and op.name in _MASKING]
        if masks:
            op = masks[0]
            # off by a few: the mask was made wrongly; all of the future open: it was applied wrongly
            off = cause.reached <= 2 and op.mask is not None
            return Culprit(op.name, "mask", op.mask if off else op.site)
        for wanted in ("recurrent", "softmax", "attention", "convolution", "reduction", "reshape", "product"):
            for op in cause.ops:
                if family(op) == wanted and (wanted != "reshape" or _scrambles(op, 0)):
                    return self._culprit(op, wanted)
        return self._culprit(cause.ops[0], "other") if cause.ops else Culprit("", "other", None)

    def _culprit(self, op: Op, kind: str) -> Culprit:
        return Culprit(op.name, kind, op.site, op.made_site, op.layer)

    # other samples

    def _other_samples(
        self,
        site: int | None,
        known: _Known,
        graph: Influence,
        like: torch.Tensor,
        target: torch.Tensor | None,
        found: Sequence | None,
    ) -> None:
        if not graph.whole:
            return
        shape = graph.shape_at_start()
        batch, where = self._batch_of(shape, target, found)
        if batch is None or batch < 3 or batch in shape[1:]:
            return
        if any(len(s) > 1 and s[0] == batch and s[1] == batch for s in self._shapes.values()):
            return
        known.measured += 1
        sample = (batch // 2 + known.measured) % batch
        vector = torch.zeros(shape, dtype=graph.dtype_at_start(), device=like.device)
        if shape[0] == batch:
            vector[sample] = probe_vector(shape[1:], vector)
        else:
            count = shape[0] // batch
            by_time = where == "time"
            rows = vector.view(count, batch, -1)[:, sample] if by_time else vector.view(batch, count, -1)[sample]
            rows.copy_(probe_vector(tuple(rows.shape), vector))

        steps = {d for s in self._shapes.values() for d in s[:2] if d != batch}

        def axis(shape: tuple[int, ...], op: Op) -> tuple[int, int | None] | None:
            given = op.sizes[1 if op.name == "embedding" and len(op.sizes) > 1 else 0] if op.sizes else ()
            if op.enters and op.name not in _KEEPING + _CONVOLUTIONS + _RECURRENT:
                return None
            for at in (0, 1):
                if len(shape) <= at + (1 if at else 0) or shape[at] != batch:
                    continue
                if op.enters and (len(given) <= at or given[at] != batch or (at and given[0] != shape[0])):
                    continue
                if at and (shape[0] == batch or shape[0] not in steps):
                    continue
                # a square may be all pairs of samples, or their features
                return None if shape == (batch, batch) and op.name not in _KEEPING else (at, None)
            return None

        for _ in range(_BELOW):
            within = graph.entering()
            values = graph.arrivals(vector, axis, within)
            if values is None:
                return
            if graph.is_reached(values, lambda index: index == sample):
                everywhere = graph.everywhere(vector, axis, within)
                cause = graph.cause(everywhere, lambda index: index == sample) if everywhere is not None else None
                if cause is None:
                    return
            else:
                cause = self._reads_batch_as_time(graph, values, axis, batch)
            if cause is None:
                known.clean += bool(values)
                return
            if not any(op.name in _NORMS for op in cause.ops):
                self._keep_mixing(site, known, cause, graph.ops.get(cause.below), batch)
                return
            shape = graph.shapes[cause.below]
            at = axis(shape, graph.ops[cause.below])
            graph = Influence(self.trace, cause.below)
            if not graph.whole or at is None:
                return
            vector = torch.zeros(shape, dtype=graph.dtype_at_start(), device=like.device)
            vector.select(at[0], sample).copy_(
                probe_vector(tuple(d for i, d in enumerate(shape) if i != at[0]), vector)
            )
        known.clean += 1  # normalised over the batch again and again: what is below stays unknown

    def _reads_batch_as_time(
        self, graph: Influence, values: dict[Point, list[float]], axis: Axis, batch: int
    ) -> Cause | None:
        """A recurrent layer right at the input, where no gradient can be taken before it: it mixes along its time."""
        for point, row in values.items():
            op = graph.ops[point]
            if op.enters and family(op) == "recurrent" and self._reads_samples(op, batch) and max(row) > 0:
                at, time = axis(graph.shapes[point], op), 1 if op.args[8] and len(op.sizes[0]) == 3 else 0
                if at is not None and at[0] == time:
                    return Cause([op], point, batch - 1, 1.0)
        return None

    def _batch_of(
        self, shape: tuple[int, ...], target: torch.Tensor | None, found: Sequence | None
    ) -> tuple[int | None, str]:
        """Size of the batch, and whether rows of a flattened prediction go by "sample" or by "time"."""
        if found is not None and found.shift:  # which axis is time shows in what follows what
            if shape[0] == found.batch and not found.time_first:
                return found.batch, "sample"
            if len(shape) == 2 and shape[0] == found.batch * found.length:
                return found.batch, "time" if found.time_first else "sample"
            return None, ""
        size = shape[0] if shape else 0
        leading = {s[0] for s in self._shapes.values() if s}
        loader = self._batch[0] if self._batch is not None else None
        if target is not None and target.dim() and target.shape[0] != size:
            return None, ""
        if loader is not None and size in leading:
            return (size, "sample") if loader == size else (None, "")
        if loader is not None and loader > 1 and not size % loader and size > loader:
            # rows of all steps: the inputs say which of the two came first
            laid = {s[:2] for s in self._shapes.values() if len(s) > 1}
            ways = {(loader, size // loader): "sample", (size // loader, loader): "time"}
            seen = [way for sizes, way in ways.items() if sizes in laid]
            return (loader, seen[0]) if len(seen) == 1 else (None, "")
        # without a loader only one target for each sample says how large the batch is
        if target is None or target.numel() != size:
            return None, ""
        if size not in leading and not any(size == s[1] for s in self._shapes.values() if len(s) > 2):
            return None, ""
        return size, "sample"

    def _keep_mixing(self, site: int | None, known: _Known, cause: Cause, below: Op | None, batch: int) -> None:
        known.dirty += 1
        culprit = self._sample_culprit(cause, below, batch)
        if culprit is None:
            return
        loader = self._batch is not None and self._batch[0] == batch
        for mixing in self.run.dependence.mixings:
            if (mixing.site, mixing.culprit.site, mixing.culprit.operator) == (site, culprit.site, culprit.operator):
                mixing.times += 1
                return
        self.run.dependence.mixings.append(
            SampleMixing(
                root=self._root,
                samples=batch,
                reached=cause.reached,
                strength=min(cause.strength, 1e6),
                culprit=culprit,
                evidence="loader" if loader else "targets",
                site=site,
                first_step=self.session.step,
            )
        )
        self._joined(cause, below, culprit, batch)

    def _sample_culprit(self, cause: Cause, below: Op | None, batch: int) -> Culprit | None:
        for op in cause.ops:
            if family(op) == "recurrent" and self._reads_samples(op, batch):
                return self._culprit(op, "recurrent")
        for op in cause.ops:
            if family(op) == "attention" and op.sizes and len(op.sizes[0]) == 4 and op.sizes[0][0] == 1:
                return None  # a batch of one, made so that samples attend to each other
            if op.layer in _ATTENTION_LAYERS:
                return self._culprit(op, "attention layer")
        for wanted in ("reshape", "softmax", "attention", "product"):
            for op in cause.ops:
                if family(op) == wanted:
                    if wanted == "reshape" and not _scrambles(op, batch):
                        continue
                    if wanted == "softmax" and op.sizes and prod(op.sizes[0]) == batch:
                        return None  # a list of items that compete with each other: ranking, bags of instances
                    return self._culprit(op, wanted)
        for op in cause.ops:  # a softmax by hand: divided by the sum over the batch
            first, *rest = op.sizes or ((),)
            shares = op.name in ("div", "truediv") and rest == [(1, *first[1:])] and first[0] == batch != prod(first)
            if shares and any(other.name == "sum" and other.sizes[:1] == (first,) for other in cause.ops):
                return self._culprit(op, "softmax")
        return None

    def _reads_samples(self, op: Op, batch: int) -> bool:
        """Whether a recurrent layer's time is the batch; one series without a batch may be told by the same sizes."""
        sizes = op.sizes[0] if op.sizes else ()
        shuffled = self._batch is not None and self._batch == (batch, True)
        if len(op.args) <= 8 or len(sizes) not in (2, 3):
            return False
        time = 1 if op.args[8] and len(sizes) == 3 else 0
        parts = op.from_parts
        if sizes[1 - time] == 1 or len(sizes) == 2:  # one series, as a layer takes it that is given two axes
            joined = parts is not None and parts.name != "stack" and parts.sizes[0][0] == batch < sizes[time]
            return joined or (shuffled and sizes[time] == batch)
        return sizes[time] == batch != sizes[1 - time]

    def _joined(self, cause: Cause, below: Op | None, culprit: Culprit, batch: int) -> None:
        """The layer that mixes was given what a stack or cat has put together with time first."""
        for op in [*cause.ops, below] if below is not None else cause.ops:
            parts = op.from_parts
            if culprit.family in ("recurrent", "attention layer") and parts is not None and parts.sizes:
                self.run.dependence.joinings.append(
                    Joining(
                        parts.name,
                        parts.site,
                        self._root,
                        "batch-as-time",
                        len(parts.sizes),
                        list(parts.sizes[0]),
                        list(parts.shape),
                        batch,
                        culprit.layer,
                        culprit.site,
                        first_step=self.session.step,
                    )
                )
                return


#: operators that keep all axes but the last
_KEEPING = (
    "gru_cell",
    "lstm_cell",
    "rnn_tanh_cell",
    "rnn_relu_cell",
    "linear",
    "embedding",
    "layer_norm",
    "dropout",
    "relu",
    "gelu",
    "tanh",
    "silu",
    "batch_norm",
)
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")
_MASKING = (
    "masked_fill",
    "masked_fill_",
    "where",
    "add",
    "iadd",
    "mul",
    "sub",
    "scaled_dot_product_attention",
    "baddbmm",
)
_ATTENTION_LAYERS = (
    "Transformer",
    "TransformerDecoder",
    "MultiheadAttention",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "TransformerEncoder",
)


def _scrambles(op: Op, batch: int) -> bool:
    """Whether a reshape does more than split axes and merge neighbours."""
    return bool(op.sizes) and (is_torn(op.sizes[0], op.shape) or bool(exchanged(op.sizes[0], op.shape, batch)))


def _ahead_at_input(graph: Influence, values: dict[Point, list[float]], step: int, found: Sequence) -> Cause | None:
    """A layer right at the input that reads ahead: no gradient can be taken before it, but its arguments say so."""
    for point, row in values.items():
        op = graph.ops[point]
        if found.input not in op.enters or not op.sizes or max(row) <= 0:
            continue
        if family(op) == "recurrent" and len(op.args) > 8 and op.args[7] is True:
            return Cause([op], point, found.steps - 1 - step, 1.0)
        if op.name == "conv1d" and op.sizes[0][-1] == found.steps:
            last = max(i for i, v in enumerate(row) if v > 0)
            stride, padding, dilation = (
                _first(op.args[i], d) if len(op.args) > i else d for i, d in ((3, 1), (4, 0), (5, 1))
            )
            reach = (op.sizes[1][-1] - 1) * dilation
            left = reach // 2 if padding == "same" else padding
            if stride == 1 and isinstance(left, int) and last - left + reach > step:
                return Cause([op], point, last - left + reach - step, 1.0)
    return None


def _first(value: Any, default: int) -> Any:
    found = value[0] if isinstance(value, tuple) and value else value
    return default if found is None else found


def _a_valid_step(target: Any, found: Sequence, sample: int, wanted: int) -> int | None:
    """A step at or before the wanted one whose target counts."""
    if target.is_floating_point():
        return wanted
    shape = (found.length, found.batch) if found.time_first else (found.batch, found.length)
    flat = target.reshape(shape).select(1 if found.time_first else 0, sample)
    row = list(map(int, flat.tolist()))
    steps: list[int] = [*range(wanted, -1, -1), *range(wanted + 1, len(row) - 1)]
    for step in steps:
        if row[step] >= 0:
            return int(step)
    return None


def _is_sharded(root: nn.Module) -> bool:
    return any("FSDP" in kind.__name__ or "FullySharded" in kind.__name__ for kind in type(root).__mro__)


def _is_hooked(root: nn.Module) -> bool:
    """Whether any layer has hooks for the backward: a gradient taken by us would call them."""
    from torchcaliper.run import walk

    return any(m._backward_hooks or m._backward_pre_hooks for m in walk.modules(root))
