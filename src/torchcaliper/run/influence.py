"""What one part of an output depends on, measured on the program's own graph before its backward.

A fixed vector is put on that part and taken back through the graph with `torch.autograd.grad`: no forward, no random
number, no gradient of a parameter. Where the vector arrives, the output depends on what was there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from torchcaliper.run.trace import Op, Trace

#: nodes walked (3 us each), values of all gradients held at once, and passes over the graph for all of them
_NODES, _VALUES, _PASSES = 20_000, 1 << 26, 16
#: nodes gone through from one place that is known to the next
_BETWEEN = 10_000
#: what arrives is rounding below this share of the largest
_LEAST = 1e-5

Point = tuple[Any, int]
#: shape of an intermediate -> the axis that counts, and indices on other axes to stay at; None: not known
Axis = Callable[[tuple[int, ...], Op], "tuple[int, int | None] | None"]


class Influence:
    """Gradients at the noted nodes of a graph, by node."""

    def __init__(self, trace: Trace, output: Any) -> None:
        self._trace = trace
        self.start: Point = (output.grad_fn, output.output_nr) if isinstance(output, torch.Tensor) else output
        self.ops: dict[Point, Op] = {}
        self.shapes: dict[Point, tuple[int, ...]] = {}
        self.edges: dict[Any, list[Point]] = {}
        self.whole = self._walk()
        self._leading = self._leading_in()

    def shape_at_start(self) -> tuple[int, ...]:
        """Shape of the output."""
        return tuple(self.start[0]._input_metadata[self.start[1]].shape)

    def dtype_at_start(self) -> torch.dtype:
        """Type of the output."""
        found = self.start[0]._input_metadata[self.start[1]].dtype
        assert isinstance(found, torch.dtype)
        return found

    def _walk(self) -> bool:
        """Walk the graph; False where it cannot be used: the program's own functions or hooks are in it."""
        node = self.start[0]
        if node is None:
            return False
        stack, seen = [node], {node}
        while stack:
            node = stack.pop()
            if isinstance(node, torch.autograd.function.BackwardCFunction) or len(seen) > _NODES:
                return False
            if type(node).__name__.startswith(("Compiled", "CppFunction", "torch::autograd::CopyBackwards")):
                return False
            following = [(n, i) for n, i in node.next_functions if n is not None]
            self.edges[node] = following
            for point in [*following, *([self.start] if node is self.start[0] else [])]:
                op = self._trace.at(*point) if point not in self.ops else None
                if op is not None:
                    self.ops[point] = op
                    self.shapes[point] = tuple(point[0]._input_metadata[point[1]].shape)
            for n, _ in following:
                if n not in seen:
                    seen.add(n)
                    stack.append(n)
        return True

    def _leading_in(self) -> set[Any]:
        """Nodes through which the network's inputs come in: what hangs on parameters alone is not among them."""
        users: dict[Any, list[Any]] = {}
        for node, following in self.edges.items():
            for n, _ in following:
                users.setdefault(n, []).append(node)
        stack = [point[0] for point, op in self.ops.items() if op.enters]
        found = set(stack)
        while stack:
            for user in users.get(stack.pop(), ()):
                if user not in found:
                    found.add(user)
                    stack.append(user)
        return found

    def entering(self, inputs: frozenset[int] | None = None) -> set[Any]:
        """Nodes that the named inputs reach."""
        if inputs is None:
            return self._leading
        users: dict[Any, list[Any]] = {}
        for node, following in self.edges.items():
            for n, _ in following:
                users.setdefault(n, []).append(node)
        stack = [point[0] for point, op in self.ops.items() if op.enters & inputs]
        found = set(stack)
        while stack:
            for user in users.get(stack.pop(), ()):
                if user not in found:
                    found.add(user)
                    stack.append(user)
        return found

    def arrivals(self, vector: torch.Tensor, axis: Axis, within: set[Any]) -> dict[Point, list[float]] | None:
        """Where inputs come in: the largest gradient at each index of the axis. None: it cannot be measured."""
        wanted = [p for p in self._known_axes(axis, within) if self.ops[p].enters]
        if not wanted or sum(_size(self.shapes[p]) for p in wanted) > _VALUES:
            return None
        return self._gradients(wanted, vector, axis)

    def everywhere(self, vector: torch.Tensor, axis: Axis, within: set[Any]) -> dict[Point, list[float]] | None:
        """The same at all noted nodes, in as many passes as it takes to hold few gradients at once."""
        passes: list[list[Point]] = []
        room = 0
        for point in self._known_axes(axis, within):
            size = _size(self.shapes[point])
            if size > room:
                passes.append([])
                room = _VALUES
            passes[-1].append(point)
            room -= size
        if len(passes) > _PASSES:
            return None
        found: dict[Point, list[float]] = {}
        for wanted in passes:
            part = self._gradients(wanted, vector, axis)
            if part is None:
                return None
            found.update(part)
        return found

    def _known_axes(self, axis: Axis, within: set[Any]) -> list[Point]:
        return [
            p for p in self.ops if p != self.start and p[0] in within and axis(self.shapes[p], self.ops[p]) is not None
        ]

    def _gradients(self, wanted: list[Point], vector: torch.Tensor, axis: Axis) -> dict[Point, list[float]] | None:
        edges = [GradientEdge(*p) for p in wanted]
        session = self._trace.session
        session.measuring = True
        try:
            gradients = torch.autograd.grad(
                [GradientEdge(*self.start)], edges, [vector], retain_graph=True, allow_unused=True
            )
        except (RuntimeError, TypeError, AttributeError):  # no such gradient, or a torch that takes no edge as output
            return None
        finally:
            session.measuring = False
        found: dict[Point, list[float]] = {}
        with torch.no_grad():
            for point, gradient in zip(wanted, gradients, strict=True):
                where = axis(self.shapes[point], self.ops[point])
                if (
                    gradient is None
                    or where is None
                    or gradient.is_sparse
                    or tuple(gradient.shape) != self.shapes[point]
                ):
                    continue
                at, row = where
                if row is not None:
                    gradient = gradient.select(1 - at, row).unsqueeze(1 - at)
                other = [d for d in range(gradient.dim()) if d != at]
                largest = gradient.abs().float()
                values = (largest.amax(other) if other else largest).tolist()
                if any(v != v or v == float("inf") for v in values):
                    return None
                found[point] = values
        return found

    def is_reached(self, values: dict[Point, list[float]], allowed: Callable[[int], bool]) -> bool:
        """Whether gradients arrive at indices that are not allowed."""
        return any(_beyond(row, allowed) is not None for row in values.values())

    def cause(self, values: dict[Point, list[float]], allowed: Callable[[int], bool]) -> Cause | None:
        """Where, going back from the output, gradients first arrive at indices that are not allowed.

        The operators between the last place that is clean and the first that is not. None if
        they arrive at none where inputs come in: there the axes are known, further on sizes may coincide by chance.
        """
        dirty: dict[Point, tuple[int, float]] = {}
        for point, row in values.items():
            beyond = _beyond(row, allowed)
            if beyond is not None:
                dirty[point] = beyond
        if not any(self.ops[point].enters for point in dirty):
            return None
        region: list[Op] = []
        first: Point | None = None
        seen: set[Point] = {self.start}
        queue: list[Point] = [self.start]
        while queue:
            clean = queue.pop(0)
            between, passed = [clean], {clean}  # what can be reached from here through places where nothing is known
            arrives = False
            for point in between:
                for following in self.edges.get(point[0], ()):
                    if following in dirty:
                        first, arrives = first or following, True
                    elif following in values:
                        if following not in seen:
                            seen.add(following)
                            queue.append(following)
                    elif following not in passed and len(passed) < _BETWEEN:
                        passed.add(following)
                        between.append(following)
            if arrives:
                found = [op for point in between if (op := self.ops.get(point)) is not None]
                region += [op for op in found if op not in region]
        if first is None:
            return None
        return Cause(region, first, *dirty[first])


class Cause:
    """A region of operators at which a dependence begins."""

    __slots__ = ("below", "ops", "reached", "strength")

    def __init__(self, ops: list[Op], below: Point, reached: int, strength: float) -> None:
        self.ops, self.below, self.reached, self.strength = ops, below, reached, strength


def _beyond(row: list[float], allowed: Callable[[int], bool]) -> tuple[int, float] | None:
    """(how many indices that are not allowed are reached, the most there as a share of the most elsewhere)."""
    inside = max((v for i, v in enumerate(row) if allowed(i)), default=0.0)
    outside = [v for i, v in enumerate(row) if not allowed(i)]
    most = max(outside, default=0.0)
    least = _LEAST * max(inside, most)
    if most <= least:
        return None
    return sum(v > least for v in outside), most / max(inside, 1e-30)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for d in shape:
        size *= d
    return size


def probe_vector(shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
    """Fixed values that do not cancel: a plain sum of a softmax would not depend on anything."""
    with torch.no_grad():
        size = _size(shape)
        values = torch.arange(1, size + 1, dtype=torch.float64, device="cpu").mul_(1.7).sin_().add_(0.1)
        return values.reshape(shape).to(device=like.device, dtype=like.dtype)
