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


def dim_of(node: Any) -> int | None:
    """The dimension of a softmax. torch keeps it unsigned."""
    dim = getattr(node, "_saved_dim", None)
    if not isinstance(dim, int):
        return None
    return dim if dim < 1 << 63 else dim - (1 << 64)


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
