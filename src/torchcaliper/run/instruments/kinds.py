"""What values are: probabilities, log-probabilities or plain scores, where a loss takes one and expects another.

The kind is read from the autograd nodes above a loss's argument. The line where it was made is known from a close look,
in which operators that make a kind leave their line in the node's metadata; a look is asked for where it is missing.
"""

from __future__ import annotations

import math
import sys
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import provenance
from torchcaliper.run.finiteness import value_of
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record_kinds import (
    LOG_PROBABILITIES,
    PROBABILITIES,
    SIGMOID,
    BroadcastFormula,
    LossUse,
    UnstableFormula,
    WrongDim,
)
from torchcaliper.run.transforms import is_readable, node_of

if TYPE_CHECKING:
    from types import FrameType

    from torchcaliper.run.events import Backward, Batch, Forward, LossCall, Operation, Step
    from torchcaliper.run.session import Session

_MADE, _MARK, _DIMS = "torchcaliper.made", "torchcaliper.kinds", "torchcaliper.dims"
#: operators that choose entries along a dimension
_CHOOSERS = frozenset({"topk", "sort", "argsort", "argmax", "max", "kthvalue", "multinomial"})
#: operators that make constants
_GRIDS = frozenset({"linspace", "logspace", "arange", "zeros", "ones", "full", "eye", "empty"})
#: reductions along a dimension: who writes one knows the axes
_ALONG = frozenset({
    "SumBackward1", "MeanBackward1", "LogsumexpBackward0", "SoftmaxBackward0", "LogSoftmaxBackward0", "AmaxBackward0",
    "AminBackward0", "MaxBackward0", "MinBackward0",
})  # fmt: skip
#: operators whose line is worth knowing
_MAKERS = frozenset({
    "softmax", "log_softmax", "sigmoid", "sigmoid_", "log_sigmoid", "logsigmoid", "exp", "exp_", "log", "log_",
    "div", "true_divide", "__truediv__", "__rtruediv__", "div_", "__itruediv__",
})  # fmt: skip
_DIFFERENCES = frozenset({
    "sub", "subtract", "__sub__", "__rsub__", "rsub", "sub_", "__isub__", "mul", "multiply", "__mul__",
    "__rmul__", "div", "__truediv__", "true_divide", "dist",
})  # fmt: skip
#: lines kept, and lists of places
_PLACES = 100
#: first calls of a loss that are looked at; afterwards those at powers of two
_FIRST = 6
#: nodes of a loss walked in a look
_NODES = 4000
#: looks asked for in order to learn one line
_ASKS = 3
#: values of an argument that are read
_SAMPLED = 1 << 16
#: how far the sums of rows may be off for values to count as probabilities
_SUM = 1e-3
#: nodes that end a loss formula: beyond them is the network
_NETWORK = (
    "Addmm", "Mm", "Bmm", "Addbmm", "Baddbmm", "Mv", "Convolution", "Embedding", "NativeLayerNorm", "NativeBatchNorm",
    "NativeGroupNorm", "CudnnBatchNorm", "CudnnRnn", "ScaledDot", "Checkpoint", "Compiled", "Linear", "Lstm", "Gru",
    "FusedRMSNorm",
)  # fmt: skip


class Kinds(Instrument):
    """Fills `run.kinds`, apart from metrics."""

    name = "kinds"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._uses: dict[tuple[str, int | None], LossUse] = {}
        self._places: dict[Any, Any] = {}
        self._asked: dict[int | None, int] = {}
        self._root: int | None = None
        self._samples: int | None = None  # of the batch that is being worked on
        self._inside: int | None = None  # samples of the forward that runs
        self._loss_samples: int | None = None
        self._grids: dict[int, weakref.ref[torch.Tensor]] = {}
        self._broken: dict[int, LossUse] = {}  # nothing counted in their last call, and no backward came since

    # what comes in

    def on_batch(self, event: Batch) -> None:
        self._samples = _leading(event.data)

    def on_step_end(self, event: Step) -> None:
        self._samples = None
        self._grids.clear()

    def on_forward_begin(self, event: Forward) -> None:
        if event.grad:
            self._root = self.session.objects.known_root(event.root)
        first = event.args[0] if event.args else next(iter(event.kwargs.values()), None)
        self._inside = first.shape[0] if isinstance(first, torch.Tensor) and first.dim() > 1 else None

    # operators of a look

    def on_operation(self, event: Operation) -> None:
        if event.name in _CHOOSERS:
            self._chosen(event)
        elif event.name in _GRIDS and isinstance(event.result, torch.Tensor):
            self._grids[id(event.result)] = weakref.ref(event.result)
        result = event.result
        node = node_of(result) if isinstance(result, torch.Tensor) else None
        if node is None:
            return
        name = event.name
        if name in _MAKERS and _MADE not in node.metadata:
            node.metadata[_MADE] = self._maker(event)
        if name in ("log", "log_") and event.args:
            self._logarithm(event, result)
        elif name in ("softmax", "log_softmax"):
            self._softmax(event, result)
        elif name in _DIFFERENCES and len(event.args) > 1:
            self._difference(event, result)

    def _maker(self, event: Operation) -> tuple[int | None, str]:
        """(site, what made it): a layer's line is the one that constructed it."""
        layer = self._layer()
        return layer if layer is not None else (event.site, event.name.strip("_"))

    def _layer(self) -> tuple[int, str] | None:
        """The line that constructed the layer of torch's whose forward runs, and its name."""
        frame: FrameType | None = sys._getframe(4)
        while frame is not None and not self.session.sites.is_user(frame.f_code.co_filename):
            owner = locals_of(frame).get("self")
            if isinstance(owner, nn.Module) and frame.f_code.co_name == "forward":
                made = self.session.objects.made(owner)
                return (made[1], f"nn.{type(owner).__name__}") if made is not None and made[1] is not None else None
            frame = frame.f_back
        return None

    def _place(self, key: Any, make: Any, kept: list[Any]) -> Any:
        place = self._places.get(key)
        if place is None and len(kept) < _PLACES:
            place = self._places[key] = make()
            kept.append(place)
        if place is not None:
            place.times += 1
        return place

    def _logarithm(self, event: Operation, result: torch.Tensor) -> None:
        node: Any = result.grad_fn
        above = provenance.parents(node)
        if not above:
            return
        formula = None
        origin = provenance.origin(above[0])
        if origin is not None and not origin.guarded:
            formula = {PROBABILITIES: "log(softmax(x))", SIGMOID: "log(sigmoid(x))"}.get(origin.kind)
        elif provenance.is_taken_from_constant(above[0]):
            inner = provenance.origin(provenance.parents(above[0])[0])
            if inner is not None and inner.kind == SIGMOID and not inner.guarded:
                formula = "log(1 - sigmoid(x))"
        if formula is None:
            return
        place = self._place(
            ("log", event.site, formula),
            lambda: UnstableFormula(event.site, formula, first_step=self.run.steps, root=self._root),
            self.run.kinds.formulas,
        )
        if place is not None:
            node.metadata[_MARK] = place
            if is_readable(result) and result.numel() <= _SAMPLED:
                place.infinite += int((~torch.isfinite(result.detach())).sum())

    @staticmethod
    def _chosen(event: Operation) -> None:
        """Samples are picked by their weights."""
        given = event.args[0] if event.args else None
        node: Any = node_of(given) if isinstance(given, torch.Tensor) else None
        mark = node.metadata.get(_MARK) if node is not None else None
        if isinstance(mark, WrongDim):
            mark.chosen += 1

    def _softmax(self, event: Operation, result: torch.Tensor) -> None:
        dim = provenance.dim_of(result.grad_fn)
        if dim is None or result.dim() < 2:
            return
        scores = provenance.parents(result.grad_fn)
        dims: dict[int, WrongDim | None] = scores[0].metadata.setdefault(_DIMS, {}) if scores else {}
        dims.setdefault(dim % result.dim(), None)
        if len(dims) > 1:
            for earlier in dims.values():
                if earlier is not None:
                    earlier.chosen += 1
            return
        size = result.shape[dim]
        samples = self._samples if self._samples is not None else self._loss_samples
        if self._loss_samples not in (None, samples):
            return  # batches that have time in front
        if dim % result.dim() != 0 or size < 2 or samples != size or self._inside not in (None, size):
            return
        if result.dim() == 2 and result.shape[1] == size:
            return  # samples against samples: contrastive
        site, by = self._maker(event)
        shape = list(result.shape)
        place = self._place(
            ("softmax", site),
            lambda: WrongDim(site, by, 0, shape, size, first_step=self.run.steps, root=self._root),
            self.run.kinds.softmaxes,
        )
        if place is not None and result.grad_fn is not None:
            metadata: Any = result.grad_fn.metadata
            metadata[_MARK] = place
            dims[0] = place

    def _difference(self, event: Operation, result: torch.Tensor) -> None:
        left, right = event.args[0], event.args[1]
        if not (isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor)):
            return
        if not _all_pairs(left, right) or left.requires_grad == right.requires_grad:
            return
        made = left if left.requires_grad else right
        node = node_of(made)
        if node is None or provenance.name_of(node) in ("Unsqueeze", "Slice", "Index"):
            return  # meant: x[:, None] - y
        given = right if made is left else left
        grid = self._grids.get(id(given))
        if grid is not None and grid() is given:
            return  # a grid of the formula's own, of the batch's size by chance
        if given._base is not None and given._base.dim() != given.dim() and given.dim() == 2:
            return  # y[:, None]
        place = self._place(
            ("pairs", event.site),
            lambda: BroadcastFormula(
                event.site,
                event.name,
                list(left.shape),
                list(right.shape),
                list(result.shape),
                first_step=self.run.steps,
                root=self._root,
            ),
            self.run.kinds.broadcasts,
        )
        if place is not None and result.grad_fn is not None:
            metadata: Any = result.grad_fn.metadata
            metadata[_MARK] = place

    # losses

    def on_loss_end(self, event: LossCall) -> None:
        given = event.argument("input", "log_probs", "anchor", "input1")
        target = event.argument("target", "targets")
        if not event.grad or not isinstance(given, torch.Tensor):
            return
        use = self._use(event)
        if use is None:
            return
        use.times += 1
        value = event.value
        if isinstance(value, torch.Tensor):
            self._value(event, use, value, given, target)
            node = node_of(value)
            if node is not None:
                node.metadata[_MARK] = use
        if isinstance(target, torch.Tensor) and target.dim():
            self._loss_samples = target.shape[0]
        if use.times <= _FIRST or use.times & (use.times - 1) == 0 or self.session.deep:
            self._look(event, use, given, target)

    def _use(self, event: LossCall) -> LossUse | None:
        key = (event.function, event.site)
        use = self._uses.get(key)
        if use is None and len(self._uses) < _PLACES:
            use = self._uses[key] = LossUse(event.function, event.site, self._root, first_step=self.run.steps)
            layer = self._layer()
            use.layer_site = layer[0] if layer is not None else None
            reduction = event.argument("reduction")
            use.reduction = reduction if isinstance(reduction, str) else "mean"
            use.log_target = bool(event.argument("log_target"))
            use.weighted = event.argument("weight") is not None or bool(event.argument("label_smoothing"))
            self.run.kinds.losses.append(use)
        return use

    def _value(self, event: LossCall, use: LossUse, value: torch.Tensor, given: torch.Tensor, target: Any) -> None:
        number = value_of(value)
        if number is None:
            return
        use.first_value = number if use.first_value is None else use.first_value
        use.last_value = number
        if math.isfinite(number):
            return
        use.not_finite += 1
        if given.numel() == 0:
            use.empty += 1
        elif isinstance(target, torch.Tensor) and event.function in ("cross_entropy", "nll_loss"):
            ignore = event.argument("ignore_index")
            ignore = ignore if isinstance(ignore, int) else -100
            if not target.is_floating_point() and is_readable(target) and bool((target == ignore).all()):
                use.ignored += 1
            else:
                return
        else:
            return
        self._broken[id(use)] = use

    def _look(self, event: LossCall, use: LossUse, given: torch.Tensor, target: Any) -> None:
        use.looks += 1
        use.input_shape = list(given.shape)
        found = provenance.origin(node_of(given))
        kind = found.kind if found is not None else ""
        by_value = False
        if found is None and is_readable(given):
            kind = self._by_value(given) if _is_hidden(node_of(given)) else ""
            by_value = bool(kind)
        use.kinds[kind] = use.kinds.get(kind, 0) + 1
        use.kind_by_value |= by_value
        if found is not None:
            use.dim = found.dim
            made = found.node.metadata.get(_MADE)
            if made is not None:
                use.made_site, use.made_by = made
            elif use.made_site is None and self._suspicious(event, found.kind):
                self._ask(use.site)
        if isinstance(target, torch.Tensor):
            use.target_shape, use.target_dtype = list(target.shape), str(target.dtype).removeprefix("torch.")
            if _all_pairs(given, target):
                use.broadcasts += 1
                use.result_numel = given.shape[0] * target.shape[0]
        if is_readable(given):
            self._range(event, use, given, target)
        if event.function == "ctc_loss":
            self._lengths(event, use, target)

    @staticmethod
    def _suspicious(event: LossCall, kind: str) -> bool:
        expected = _EXPECTED.get(event.function)
        return expected is not None and kind not in expected

    def _ask(self, site: int | None) -> None:
        asked = self._asked.get(site, 0)
        if asked < _ASKS:
            self._asked[site] = asked + 1
            self.session.look()

    @staticmethod
    def _by_value(given: torch.Tensor) -> str:
        """Probabilities over the dimension of the classes, by their values."""
        dim = 1 if given.dim() > 1 else 0
        if given.dim() < 1 or given.shape[dim] < 2 or given.numel() > _SAMPLED or not given.is_floating_point():
            return ""
        values = given.detach().float()
        if bool((values < 0).any()) or bool((values > 1).any()):
            return ""
        sums = values.sum(dim)
        return PROBABILITIES if bool(((sums - 1).abs() < _SUM).all()) else ""

    def _range(self, event: LossCall, use: LossUse, given: torch.Tensor, target: Any) -> None:
        if event.function in ("nll_loss", "kl_div") and given.numel() and given.is_floating_point():
            low, high = (float(v) for v in torch.aminmax(_some(given)))
            use.input_low = low if use.input_low is None else min(use.input_low, low)
            use.input_high = high if use.input_high is None else max(use.input_high, high)
            use.positive += high > 1e-4
        if (
            event.function in ("binary_cross_entropy_with_logits", "kl_div", "binary_cross_entropy")
            and isinstance(target, torch.Tensor)
            and target.numel()
            and target.is_floating_point()
        ):
            low, high = (float(v) for v in torch.aminmax(_some(target)))
            use.target_low = low if use.target_low is None else min(use.target_low, low)
            use.target_high = high if use.target_high is None else max(use.target_high, high)

    def _lengths(self, event: LossCall, use: LossUse, target: Any) -> None:
        inputs, targets = event.argument("input_lengths"), event.argument("target_lengths")
        try:
            given = [int(v) for v in inputs]
            wanted = [int(v) for v in targets]
        except TypeError:
            return
        labels = target.detach().cpu() if isinstance(target, torch.Tensor) else None
        begin = 0
        for number, (length, needed) in enumerate(zip(given, wanted, strict=False)):
            repeats = 0
            if labels is not None:
                row = labels[number][:needed] if labels.dim() == 2 else labels[begin : begin + needed]
                repeats = int((row[1:] == row[:-1]).sum()) if len(row) > 1 else 0
            begin += needed
            if length < needed + repeats:
                use.infeasible += 1
                use.infeasible_lengths = [length, needed + repeats]

    def _reached(self, event: Backward) -> None:
        """A program that leaves such a loss out has a finite root, or none: only what reaches backward does harm."""
        if any((value := value_of(t)) is not None and not math.isfinite(value) for t in event.tensors):
            for use in self._broken.values():
                use.broken_backwards += 1
                if use.ignored_step is None:
                    use.ignored_step = self.run.steps
            self.session.judge_soon()
        self._broken.clear()

    # backward: which of these lead into the loss

    def on_backward_begin(self, event: Backward) -> None:
        if self._broken:
            self._reached(event)
        deep = self.session.deep
        if not deep and event.number >= _FIRST and event.number & (event.number - 1):
            return
        roots = [node for t in event.tensors if (node := node_of(t)) is not None]
        if not roots:
            return
        seen: dict[Any, bool] = {}  # node -> reached by sums alone
        beyond: set[Any] = set()
        below: dict[Any, tuple[Any, int]] = {}  # node -> one that uses its result, and as which argument
        stack: list[tuple[Any, bool, bool]] = [(node, True, False) for node in roots]
        told: set[int] = set()
        while stack and len(seen) + len(beyond) < _NODES:
            node, alone, inside = stack.pop()
            if node in beyond or (node in seen and (seen[node] or not alone) and not inside):
                continue
            if inside:
                beyond.add(node)
            else:
                seen[node] = alone
            mark = node.metadata.get(_MARK)
            if mark is not None and id(mark) not in told:
                if isinstance(mark, LossUse):
                    if not inside:
                        told.add(id(mark))
                        mark.backwards += 1
                        mark.alone += alone
                elif isinstance(mark, WrongDim):
                    told.add(id(mark))
                    mark.in_loss += not provenance.is_pooled(node, below, mark.samples)
                elif not inside:
                    told.add(id(mark))
                    mark.in_loss += not (isinstance(mark, BroadcastFormula) and _along_a_dimension(node, below))
            name = provenance.name_of(node)
            network = inside or name.startswith(_NETWORK)
            if network and not deep:
                continue
            plain = alone and name in ("Add", "Sum", "View", "Squeeze", "Unsqueeze", "Select", "Alias")
            for place, (above, _) in enumerate(node.next_functions):
                if above is not None:
                    below.setdefault(above, (node, place))
                    stack.append((above, plain, network))


#: kinds that a loss may be given as its first argument
_EXPECTED: dict[str, tuple[str, ...]] = {
    "cross_entropy": ("",),
    "binary_cross_entropy_with_logits": ("",),
    "multilabel_soft_margin_loss": ("",),
    "nll_loss": (LOG_PROBABILITIES, ""),
    "kl_div": (LOG_PROBABILITIES, "log-sigmoid", ""),
}


def _leading(data: Any) -> int | None:
    """Size of the first dimension of the first tensor of a batch."""
    if isinstance(data, torch.Tensor):
        return data.shape[0] if data.dim() else None
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list | tuple) else ()
    return next((s for v in values if (s := _leading(v)) is not None), None)


def _all_pairs(left: torch.Tensor, right: torch.Tensor) -> bool:
    """`(N,)` against `(N, 1)`, which broadcast to `(N, N)`."""
    flat, column = (left, right) if left.dim() == 1 else (right, left)
    return (
        flat.dim() == 1 and column.dim() == 2 and column.shape[1] == 1 and column.shape[0] == flat.shape[0] > 1
    )  # fmt: skip


def _some(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach().reshape(-1)
    return flat[:: max(1, flat.numel() // _SAMPLED)]


def _along_a_dimension(node: Any, below: dict[Any, tuple[Any, int]]) -> bool:
    """Whether something on the way to the root reduces along a dimension."""
    while node in below:
        node = below[node][0]
        if node.name() in _ALONG:
            return True
    return False


def _is_hidden(node: Any) -> bool:
    """Whether the operators that made a value cannot be seen."""
    return node is None or isinstance(node, torch.autograd.function.BackwardCFunction)
