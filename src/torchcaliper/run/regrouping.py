"""Whether a view or reshape exchanges axes: new sizes that are the old ones in another order.

A reshape keeps the order of the elements. Splitting an axis or merging neighbours is what it is for; where an axis of
the old shape stands at another place in the new one, elements of different samples, steps or channels are mixed.
"""

from __future__ import annotations

from itertools import permutations

Shape = tuple[int, ...]


def _spans(shape: Shape) -> list[tuple[int, int, int]]:
    """(inner, outer, size) of each axis: elements from one index to the next, and up to the end of the axis."""
    found, inner = [], 1
    for size in reversed(shape):
        found.append((inner, inner * size, size))
        inner *= size
    return found[::-1]


def _groups(sizes: Shape) -> list[Shape]:
    """All ways of merging neighbouring axes, as the products."""
    if len(sizes) <= 1:
        return [sizes]
    found = []
    for rest in _groups(sizes[1:]):
        found.append((sizes[0], *rest))
        found.append((sizes[0] * rest[0], *rest[1:]))
    return found


def _differing(before: Shape, after: Shape) -> tuple[Shape, Shape]:
    """The axes without those that are kept: same size at the same place."""
    old, new = _spans(before), _spans(after)
    kept = set(old) & set(new)
    return tuple(s[2] for s in old if s not in kept), tuple(s[2] for s in new if s not in kept)


def moved(before: Shape, after: Shape) -> Shape:
    """Sizes of the old axes that are not at their place in the new shape."""
    return _differing(tuple(d for d in before if d != 1), tuple(d for d in after if d != 1))[0]


def is_torn(before: Shape, after: Shape) -> bool:
    """Whether an axis of the new shape ends amid one of the old, at no divisor of it: no way of splitting gives it."""
    old = _spans(before)
    for inner, _, _ in _spans(after):
        for low, high, _ in old:
            if low < inner < high and (inner % low or high % inner):
                return True
    return False


def exchanged(before: Shape, after: Shape, batch: int | None = None) -> str:
    """How a reshape exchanges axes: "exchanged", "heads", "rows", "batch", or "" when it does not (or may not).

    * exchanged: all that changed are old axes (or neighbours merged) in another order: (B, T, C) -> (T, B, C),
      (B, C, H, W) -> (B, H*W, C)
    * heads: an axis was split and its parts put around another one: (B, T, H*D) -> (B, H, T, D) or (B*H, T, D)
    * rows: everything but one inner axis was merged into rows: (B, C, T) -> (B*T, C)
    * batch: the batch came to the front: (2, B, H) -> (B, 2*H)
    """
    before, after = tuple(d for d in before if d != 1), tuple(d for d in after if d != 1)
    if len(before) < 2 or len(after) < 2 or before == after or len(before) > 6 or len(after) > 6:
        return ""
    old, new = _differing(before, after)
    if len(old) < 2 or len(new) < 2:
        return ""
    for grouped in _groups(old):
        if len(grouped) > 1 and sorted(grouped) == sorted(new) and grouped != new and len(set(grouped)) > 1:
            return "exchanged"
    for grouped in _groups(new):
        if len(grouped) > 1 and sorted(grouped) == sorted(old) and grouped != old and len(set(grouped)) > 1:
            return "exchanged"  # the same the other way round: (B, H*W, C) -> (B, C, H, W)
    if _is_heads(before, after):
        return "heads"
    if len(new) == 2 and len(before) > 2 and new[1] in old[:-1] and old.count(new[1]) == 1 and is_torn(before, after):
        return "rows"
    if batch is not None and len(old) <= 4 and old[0] != batch and new[0] == batch and old.count(batch) == 1:
        for order in permutations(range(len(old))):
            mixed = tuple(old[i] for i in order)
            if mixed[0] == batch and mixed != old and new in _groups(mixed):
                return "batch"
    return ""


def _is_heads(before: Shape, after: Shape) -> bool:
    if len(before) != 3:
        return False
    batch, steps, width = before
    if len(after) == 4:
        first, heads, middle, depth = after
        return first == batch and middle == steps and heads * depth == width and steps not in (heads, depth)
    if len(after) == 3:
        rows, middle, depth = after
        heads = width // depth if depth and not width % depth else 0
        return heads > 1 and rows == batch * heads and middle == steps and steps not in (heads, depth, rows)
    return False
