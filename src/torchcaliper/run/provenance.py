"""What a tensor is, read from the autograd nodes that produced it: probabilities, log-probabilities, or neither.

Names of nodes are facts about the operators; nothing is guessed from values. Operators that only move, pick or bound
values are looked through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchcaliper.run.record_kinds import LOG_PROBABILITIES, LOG_SIGMOID, PROBABILITIES, SIGMOID

#: nodes that change neither the kind of values nor what they are over
_SEEN_THROUGH = frozenset({
    "View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Transpose", "Permute", "T", "Select",
    "Slice", "Index", "IndexSelect", "Expand", "Clone", "ToCopy", "Alias", "Clamp", "ClampMin", "ClampMax",
    "Minimum", "Maximum", "MaskedFill", "MaskedSelect", "Gather", "Take", "Narrow", "Split", "SplitWithSizes",
    "Unbind", "Unfold", "Flip", "Roll", "Repeat", "Cat", "Stack", "Where", "Copy", "CopySlices", "Contiguous",
    "Movedim", "AsStrided", "NanToNum", "Chunk", "Diagonal",
})  # fmt: skip
_DEPTH = 24


@dataclass(frozen=True)
class Origin:
    """The node that gave a value its kind."""

    kind: str
    node: Any
    dim: int | None = None
    guarded: bool = False  # bounded or moved away from its end on the way: `clamp`, `+ eps`


def name_of(node: Any) -> str:
    """`SoftmaxBackward0` -> `Softmax`."""
    text: str = node.name()
    return text.partition("Backward")[0]


def parents(node: Any) -> list[Any]:
    """The nodes that a node's inputs came from."""
    return [n for n, _ in node.next_functions if n is not None]


def signed(dim: int) -> int:
    """A dimension that a node has saved: torch keeps it unsigned."""
    return dim if dim < 1 << 63 else dim - (1 << 64)


def dim_of(node: Any) -> int | None:
    """The dimension of a softmax."""
    dim = getattr(node, "_saved_dim", None)
    return signed(dim) if isinstance(dim, int) else None


def origin(node: Any) -> Origin | None:
    """The kind of the value whose `grad_fn` is `node`, or None where it is neither."""
    guarded = False
    for _ in range(_DEPTH):
        if node is None:
            return None
        name = name_of(node)
        if name in ("Softmax", "SafeSoftmax"):
            return Origin(PROBABILITIES, node, dim_of(node), guarded)
        if name == "LogSoftmax":
            return Origin(LOG_PROBABILITIES, node, dim_of(node), guarded)
        if name == "Sigmoid":
            return Origin(SIGMOID, node, None, guarded)
        if name == "LogSigmoid":
            return Origin(LOG_SIGMOID, node, None, guarded)
        if name == "Exp":
            return _changed(node, {LOG_PROBABILITIES: PROBABILITIES, LOG_SIGMOID: SIGMOID})
        if name == "Log":
            return _changed(node, {PROBABILITIES: LOG_PROBABILITIES, SIGMOID: LOG_SIGMOID})
        if name == "Div":
            return Origin(PROBABILITIES, node, None, guarded) if is_softmax_by_hand(node) else None
        above = parents(node)
        if name in ("Add", "Sub") and len(above) == 1:  # an epsilon
            guarded = True
        elif name not in _SEEN_THROUGH:
            return None
        guarded |= name.startswith(("Clamp", "Minimum", "Maximum"))
        node = above[0] if above else None
    return None


def _changed(node: Any, kinds: dict[str, str]) -> Origin | None:
    above = parents(node)
    found = origin(above[0]) if above else None
    return Origin(kinds[found.kind], node, found.dim, found.guarded) if found and found.kind in kinds else None


def _beneath(node: Any, names: tuple[str, ...]) -> Any:
    """The first node below views that bears one of these names."""
    for _ in range(_DEPTH):
        if node is None:
            return None
        name = name_of(node)
        if name in names:
            return node
        if name not in _SEEN_THROUGH:
            return None
        above = parents(node)
        node = above[0] if above else None
    return None


def is_softmax_by_hand(node: Any) -> bool:
    """`exp(x) / exp(x).sum(...)`, with the same exponential above and below."""
    above = parents(node)
    if len(above) != 2:
        return False
    exponential, total = _beneath(above[0], ("Exp",)), _beneath(above[1], ("Sum",))
    if exponential is None or total is None:
        return False
    beneath = parents(total)
    return bool(beneath) and _beneath(beneath[0], ("Exp",)) == exponential


def is_taken_from_constant(node: Any) -> bool:
    """Whether a node is `1 - x` or the like. What is added to `x` (an epsilon) is another matter."""
    name, given = name_of(node), node.next_functions
    if name == "Rsub":
        return len(parents(node)) == 1
    return name == "Sub" and len(given) == 2 and given[0][0] is None and given[1][0] is not None


#: between weights and the sum that they weigh
_ON_THE_WAY = _SEEN_THROUGH | {"Mul", "NativeDropout", "Add", "Div"}
_TURNED = ("T", "Transpose", "Permute")


def is_pooled(node: Any, below: dict[Any, tuple[Any, int]], samples: int) -> bool:
    """Whether weights over the first dimension serve a weighted sum over that dimension.

    Then what stands there are the nodes, tokens or instances of one sample, although their number may be that of the
    targets. `below` tells for each node one that uses its result, and as which argument.
    """
    turned = False
    for _ in range(_DEPTH):
        used = below.get(node)
        if used is None:
            return False
        node, place = used
        name = name_of(node)
        if name in ("Sum", "Mean"):
            return not turned and 0 in _dims(node)
        if name == "Mm":  # `w.T @ h`, or `h.T @ w`
            return turned is (place == 0)
        if name == "Bmm":  # an einsum that keeps the samples apart multiplies one matrix for each
            factor = getattr(node, "_saved_self", None)
            factor = factor if factor is not None else getattr(node, "_saved_mat2", None)
            return factor is not None and factor.shape[0] != samples
        if name not in _ON_THE_WAY:
            return False
        turned ^= name in _TURNED
    return False


def _dims(node: Any) -> tuple[int, ...]:
    """Dimensions of a sum or mean, counted from the first; none for one over everything."""
    dims, sizes = getattr(node, "_saved_dim", None), getattr(node, "_saved_self_sym_sizes", None)
    if not isinstance(dims, list | tuple) or sizes is None:
        return ()
    return tuple(signed(d) % len(sizes) for d in dims) if len(sizes) else ()
