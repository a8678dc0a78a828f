"""The operator in a living graph where NaN or infinity first arose.

What operators saved for their backward is still there before a backward: a logarithm its argument, a division its
divisor, an exponential its result. They are read in the order in which they were computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from torchcaliper.run.instruments.graph_lines import ACCUMULATE
from torchcaliper.run.provenance import signed

_HALF = (torch.float16, torch.bfloat16)
#: which input of its node a saved tensor is
_SLOTS = {
    "self": 0,
    "input": 0,
    "other": 1,
    "mat1": 1,
    "batch1": 1,
    "batch2": 2,
    "weight": 1,
    "exponent": 1,
    "query": 0,
    "key": 1,
    "value": 2,
    "tensor1": 1,
    "tensor2": 2,
}
_MATMULS = {"MmBackward0": {"self": 0, "mat2": 1}, "AddmmBackward0": {"mat1": 1, "mat2": 2}}
_INPUTS = (*_SLOTS, "mat2")
_RESULTS = ("result", "result0", "result1", "output")
_LOGARITHMS = {"LogBackward0": 0.0, "Log2Backward0": 0.0, "Log10Backward0": 0.0, "Log1PBackward0": -1.0}
_CAN_TELL_HOOKS = hasattr(torch._C._autograd.SavedTensor, "unpack_hook")


@dataclass(slots=True)
class Birth:
    """An operator, and what it was given."""

    node: int  # index in the order of making; -1: none
    kind: str
    operator: str
    bad: int = 0
    of: int = 0
    value: float = 0.0
    dtype: str = ""


def plain_name(node: str) -> str:
    """ "LogBackward0" -> "log"."""
    name = node.rpartition("::")[2]
    name = name.partition("Backward")[0] or name
    return {
        "NllLoss": "cross_entropy",
        "NllLoss2D": "cross_entropy",
        "LinalgVectorNorm": "norm",
        "ToCopy": "to",
        "Addmm": "linear",
        "Mm": "matmul",
        "Bmm": "matmul",
    }.get(name, _snake(name))


def _snake(name: str) -> str:
    return "".join(
        f"_{c.lower()}" if c.isupper() and i and not name[i - 1].isupper() else c.lower() for i, c in enumerate(name)
    )


def read(node: Any, name: str) -> torch.Tensor | None:
    """A tensor that a node saved, unless the program has a hook on it or it is gone."""
    raw = getattr(node, f"_raw_saved_{name}", None)
    if raw is None or not _CAN_TELL_HOOKS or raw.unpack_hook is not None:
        return None  # to unpack it would run the program's code, or a whole recomputation
    try:
        tensor = raw.data
    except RuntimeError:
        return None
    if type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter:
        return tensor.detach() if tensor.layout is torch.strided and not tensor.is_meta else None
    return None


def has_bad(tensor: torch.Tensor) -> bool:
    """Whether any value is NaN or infinite."""
    if not tensor.is_floating_point() or not tensor.numel():
        return False
    low, high = torch.aminmax(tensor)
    return not (math.isfinite(low.item()) and math.isfinite(high.item()))


def _bad(tensor: torch.Tensor) -> int:
    return int(tensor.isfinite().logical_not().sum().item())


class _Search:
    def __init__(self, nodes: list[Any]) -> None:
        self.nodes = nodes
        self.index = {node: i for i, node in enumerate(nodes)}

    def first(self) -> Birth | None:
        parameter = self._parameters()
        if parameter is not None:
            return parameter
        for i, node in enumerate(self.nodes):
            name = node.name()
            found = self._came_in(i, node, name) or by_kind(i, node, name)
            if found is not None:
                return found
        return None

    def _parameters(self) -> Birth | None:
        seen: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
        for node in self.nodes:
            for below, _ in node.next_functions:
                if below is not None and below not in self.index and below.name() == ACCUMULATE:
                    leaf = below.variable.detach()
                    if type(leaf) is torch.Tensor and leaf.is_floating_point() and not leaf.is_meta and leaf.numel():
                        seen.setdefault((leaf.device, leaf.dtype), []).append(leaf)
        for leaves in seen.values():
            for leaf in leaves:
                if has_bad(leaf):
                    return Birth(-1, "parameter", "", _bad(leaf), leaf.numel(), dtype=_dtype(leaf))
        return None

    def _came_in(self, i: int, node: Any, name: str) -> Birth | None:
        """A non-finite value that the node was given, whose producer showed nothing."""
        for saved in _INPUTS:
            tensor = read(node, saved)
            if tensor is None or not has_bad(tensor):
                continue
            slots = _MATMULS.get(name, _SLOTS)
            slot = slots.get(saved, 1 if saved == "mat2" else 0)
            following = node.next_functions
            producer = following[slot][0] if slot < len(following) else None
            if producer is None:
                if tensor.isnan().any().item() or tensor.max().item() == math.inf:
                    return Birth(i, "input", plain_name(name), _bad(tensor), tensor.numel(), dtype=_dtype(tensor))
                continue  # minus infinity in a constant is a mask
            made_by = self.index.get(producer, i)
            kind = "overflow" if not tensor.isnan().any().item() else "unknown"
            made_by = self._through_views(made_by)
            return Birth(
                made_by,
                kind,
                plain_name(self.nodes[made_by].name()),
                _bad(tensor),
                tensor.numel(),
                value=_largest(tensor),
                dtype=_dtype(tensor),
            )
        return None

    def _through_views(self, index: int) -> int:
        """Shapes and signs do not make values: the operator before them did."""
        while self.nodes[index].name().startswith(_MOVES):
            below = next((b for b, _ in self.nodes[index].next_functions if b in self.index), None)
            if below is None:
                break
            index = self.index[below]
        return index


_MOVES = (
    "View", "UnsafeView", "ReshapeAlias", "Transpose", "Permute", "TBackward", "Squeeze", "Unsqueeze", "Expand",
    "Clone", "Slice", "Select", "NegBackward", "Split", "Alias", "AsStrided", "Cat",
)  # fmt: skip


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _largest(tensor: torch.Tensor) -> float:
    finite = tensor[tensor.isfinite()]
    return float(finite.abs().max().item()) if finite.numel() else math.inf


def by_kind(i: int, node: Any, name: str) -> Birth | None:
    """What the operator's own saved values say of its result."""
    operator = plain_name(name)
    if name in _LOGARITHMS:
        given = read(node, "self")
        edge = _LOGARITHMS[name]
        if given is not None and given.numel():
            wrong = given <= edge
            bad = int(wrong.sum().item())
            if bad:
                return Birth(i, "log", operator, bad, given.numel(), float(given.min().item()), _dtype(given))
        return None
    if name in ("NllLossBackward0", "NllLoss2DBackward0"):
        total = read(node, "total_weight")
        if total is not None and node._saved_reduction == 1 and total.item() == 0:
            target = read(node, "target")
            count = target.numel() if target is not None else 0
            return Birth(i, "no_targets", operator, count, count)
        return None
    if name == "DivBackward0":
        other = read(node, "other")
        if other is not None and other.numel():
            zeros = int((other == 0).sum().item())
            if zeros:
                return Birth(i, "division", operator, zeros, other.numel(), 0.0, _dtype(other))
        return None
    if name.startswith("PowBackward"):
        return _power(i, node, operator)
    if name.startswith(("MeanBackward", "VarBackward", "StdBackward", "VarMeanBackward", "StdMeanBackward")):
        return _reduction(i, node, name, operator)
    for saved in _RESULTS:
        result = read(node, saved)
        if result is None or not has_bad(result):
            continue
        kind = _RESULT_KINDS.get(operator, "overflow")
        if kind == "softmax":
            given = result.movedim(_dimension(node, result), -1)
            rows = given.isnan().all(-1)
            return Birth(i, kind, operator, int(rows.sum().item()), rows.numel(), -math.inf, _dtype(result))
        if kind == "overflow" and result.isnan().any().item():
            kind = "unknown"
        return Birth(i, kind, operator, _bad(result), result.numel(), _largest(result), _dtype(result))
    if operator in ("acos", "asin", "acosh", "atanh"):
        given = read(node, "self")
        if given is not None and given.numel():
            wrong = given.abs() > 1 if operator != "acosh" else given < 1
            if operator == "atanh":
                wrong = given.abs() >= 1
            bad = int(wrong.sum().item())
            if bad:
                return Birth(i, "domain", operator, bad, given.numel(), float(given.abs().max().item()), _dtype(given))
    return None


_RESULT_KINDS = {
    "sqrt": "sqrt",
    "rsqrt": "sqrt",
    "reciprocal": "division",
    "exp": "exp",
    "expm1": "exp",
    "exp2": "exp",
    "softmax": "softmax",
    "log_softmax": "softmax",
}


def _dimension(node: Any, tensor: torch.Tensor) -> int:
    return signed(int(getattr(node, "_saved_dim", tensor.dim() - 1)))


def _power(i: int, node: Any, operator: str) -> Birth | None:
    base = read(node, "self")
    exponent = getattr(node, "_saved_exponent", None)
    if base is None or not base.numel() or not isinstance(exponent, float | int):
        return None
    if exponent < 0:
        bad = int((base == 0).sum().item())
        if bad:
            return Birth(i, "division", operator, bad, base.numel(), 0.0, _dtype(base))
    if exponent != int(exponent):
        bad = int((base < 0).sum().item())
        if bad:
            return Birth(i, "power", operator, bad, base.numel(), float(base.min().item()), _dtype(base))
    result = base**exponent
    if has_bad(result):
        return Birth(i, "overflow", operator, _bad(result), base.numel(), _largest(base), _dtype(base))
    return None


def _reduction(i: int, node: Any, name: str, operator: str) -> Birth | None:
    """A mean of nothing, or a spread of a single value."""
    sizes = getattr(node, "_saved_self_sym_sizes", None)
    if sizes is None:
        given = read(node, "self")
        if given is None:
            return None
        sizes = tuple(given.shape)
    dims = getattr(node, "_saved_dim", None)
    if dims is None or name == "MeanBackward0":
        count = math.prod(sizes)
    else:
        dims = [signed(d) for d in (dims if isinstance(dims, tuple) else (dims,))]
        count = math.prod(sizes[d] for d in dims) if dims else math.prod(sizes)
    if name.startswith("Mean"):
        return Birth(i, "empty", operator, 0, 0) if count == 0 else None
    correction = getattr(node, "_saved_correction", 1)
    correction = 1 if correction is None else correction
    return Birth(i, "spread", operator, count, count) if count <= correction else None


def first_bad(nodes: list[Any]) -> Birth | None:
    """The first operator of an ordered graph whose result is not finite, as far as saved values tell."""
    with torch.no_grad():
        return _Search(nodes).first()


def singular(nodes: list[Any]) -> list[Birth]:
    """Operators whose derivative is not finite at what they were given, though their result may be."""
    found = []
    with torch.no_grad():
        for i, node in enumerate(nodes):
            name = node.name()
            operator = plain_name(name)
            if name in _SINGULAR_RESULTS:
                tensor, edge = read(node, "result"), 0.0
                if tensor is not None and tensor.isnan().any().item():  # of a negative number, hidden afterwards
                    bad = int(tensor.isnan().sum().item())
                    found.append(Birth(i, "sqrt", operator, bad, tensor.numel(), math.nan, _dtype(tensor)))
                    continue
            elif name in _LOGARITHMS or name in _RECIPROCAL_SLOPES:
                birth = by_kind(i, node, name) or _barely(i, node, name, operator)
                if birth is not None:
                    found.append(birth)
                continue
            elif name in ("AcosBackward0", "AsinBackward0"):
                tensor, edge = read(node, "self"), 1.0
            elif name == "PowBackward0":
                exponent = getattr(node, "_saved_exponent", None)
                if not isinstance(exponent, float | int) or exponent >= 1:
                    continue
                tensor, edge = read(node, "self"), 0.0
            elif name == "Atan2Backward0":
                first, second = read(node, "self"), read(node, "other")
                if first is None or second is None:
                    continue
                tensor, edge = torch.maximum(first.abs(), second.abs()), 0.0
            else:
                continue
            if tensor is not None and tensor.numel():
                bad = int((tensor.abs() >= edge if edge else tensor == 0).sum().item())
                if bad:
                    found.append(Birth(i, "backward", operator, bad, tensor.numel(), edge, _dtype(tensor)))
    return found


def has_infinite_slope(node: Any) -> bool:
    """Whether an operator can have a finite value without having a finite derivative."""
    name = node.name()
    if name == "PowBackward0":
        exponent = getattr(node, "_saved_exponent", None)
        return isinstance(exponent, float | int) and 0 < exponent < 1
    if isinstance(node, torch.autograd.function.BackwardCFunction):  # written by hand: it may do anything
        return True
    return name in ("SqrtBackward0", "AcosBackward0", "AsinBackward0", "Atan2Backward0")


def _barely(i: int, node: Any, name: str, operator: str) -> Birth | None:
    """Arguments so small that the slope, one over them, overflows."""
    given = read(node, _SMALL[name]) if name in _SMALL else None
    if given is None or not given.is_floating_point() or not given.numel():
        return None
    small = given.abs() <= 4 * torch.finfo(given.dtype).tiny
    bad = int(small.sum().item())
    if not bad:
        return None
    return Birth(i, "backward", operator, bad, given.numel(), float(given[small].max().item()), _dtype(given))


_SINGULAR_RESULTS = ("SqrtBackward0",)
_RECIPROCAL_SLOPES = ("DivBackward0", "ReciprocalBackward0", "ExpBackward0")
_SMALL = {"LogBackward0": "self", "Log2Backward0": "self", "Log10Backward0": "self", "DivBackward0": "other"}
#: nodes whose saved values are worth reading in every deep step
MAY_BE_SINGULAR = frozenset(
    (*_SINGULAR_RESULTS, *_LOGARITHMS, "DivBackward0", "ReciprocalBackward0", "ExpBackward0", "AcosBackward0",
     "AsinBackward0", "PowBackward0", "Atan2Backward0")
)  # fmt: skip
