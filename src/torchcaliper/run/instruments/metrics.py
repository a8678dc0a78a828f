"""Metrics of an evaluation: what predictions are compared with, and how batches are averaged.

The operators that follow a forward without gradients are looked at in the first evaluations of each network.
"""

from __future__ import annotations

import ast
import sys
import weakref
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run import blame
from torchcaliper.run.callsite import INVISIBLE
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.operators import OperatorWatch
from torchcaliper.run.record_kinds import FlatArgmax, UnevenMean

if TYPE_CHECKING:
    from types import FrameType

    from torchcaliper.run.events import Batch, Ended, Forward, LoaderEpoch, LossCall, Operation, SchedulerStep, Step
    from torchcaliper.run.session import Session

#: forwards without gradients of each network that are followed, and operators after one
_FORWARDS, _OPERATORS = 8, 400
#: steps after which the accuracy of the training batch is followed; afterwards powers of two
_STEPS = 2
_PLACES = 50
_EQUAL = ("eq", "__eq__", "equal")


class Metrics(Instrument):
    """Fills `run.kinds.argmaxes` and `run.kinds.means`."""

    name = "metrics"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._watch = _After(session)
        self._forwards: dict[int | None, int] = {}
        self._root: int | None = None
        #: index of a whole matrix -> the matrix' shape and the line
        self._steps = 0
        self._losses: set[int] = set()  # lines of losses whose sum has been looked for
        self._indices: dict[int, tuple[weakref.ref[torch.Tensor], list[int], int | None]] = {}
        self._argmaxes: dict[int | None, FlatArgmax] = {}
        self._uneven: tuple[int, int, int | None] | None = None  # samples, batch size, site of the loader being read
        self._places: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._means: dict[tuple[str, int], UnevenMean] = {}

    def may_rest(self) -> bool:
        return not self._watch.on

    # which loader is read

    def on_loader_epoch(self, event: LoaderEpoch) -> None:
        loader = event.loader
        self._uneven = None
        try:
            samples, size = len(loader.dataset), loader.batch_size  # type: ignore[arg-type]
        except TypeError:
            return
        if size and samples > size and samples % size and not loader.drop_last:
            self._uneven = samples, size, event.site

    # what follows a forward

    def on_forward_begin(self, event: Forward) -> None:
        self._stop()
        if event.grad:
            return
        self._root = self.session.objects.known_root(event.root)
        if self._uneven is not None and event.frame is not None:
            self._averaged(event.frame, self._uneven)

    def on_forward_end(self, event: Forward) -> None:
        if event.grad or event.error is not None:
            return
        count = self._forwards[self._root] = self._forwards.get(self._root, 0) + 1
        if count <= _FORWARDS or count & (count - 1) == 0:
            self._watch.begin()

    def on_batch(self, event: Batch) -> None:
        self._stop()

    def on_scheduler_begin(self, event: SchedulerStep) -> None:
        self._stop()  # it may warn, and a warning out of C++ names the innermost frame

    def on_step_end(self, event: Step) -> None:
        self._stop()
        if event.nested:
            return
        self._steps += 1
        if self._steps <= _STEPS or self._steps & (self._steps - 1) == 0:
            self._watch.begin(after_step=True)

    def on_ended(self, event: Ended) -> None:
        self._stop()

    def _stop(self) -> None:
        # Also one that has gone silent by itself: its mode is on the stack still.
        self._watch.step_ends()
        self._indices.clear()

    def on_loss_end(self, event: LossCall) -> None:
        """A mean loss of a batch of an evaluation: where is it added up?"""
        if event.grad or self._uneven is None or event.site is None or event.site in self._losses:
            return
        value = event.value
        if (
            event.argument("reduction") not in (None, "mean")
            or not isinstance(value, torch.Tensor)
            or value.numel() != 1
        ):
            return
        self._losses.add(event.site)
        place = self.run.sites[event.site]
        function = _function_at(place.path, place.line)
        if function is not None:
            self._add_means(place.path, place.function, list(_means_of_means(function, place.line)), self._uneven)

    # argmax over everything

    def on_metric_operation(self, event: tuple[str, tuple[Any, ...], dict[str, Any], Any, FrameType]) -> None:
        name, args, kwargs, result, frame = event
        self._compared(name, args, kwargs, result, self.session.site(frame))

    def on_operation(self, event: Operation) -> None:
        """The accuracy of a training batch, where its step is looked at."""
        if event.name == "argmax" or event.name in _EQUAL:
            self._compared(event.name, event.args, event.kwargs, event.result, event.site)

    def _compared(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, at: int | None) -> None:
        if name == "argmax":
            given = args[0] if args else kwargs.get("input")
            dim = args[1] if len(args) > 1 else kwargs.get("dim")
            if isinstance(given, torch.Tensor) and given.dim() > 1 and dim is None and isinstance(result, torch.Tensor):
                self._indices[id(result)] = weakref.ref(result), list(given.shape), at
            return
        pair = [a for a in args[:2] if isinstance(a, torch.Tensor)]
        for one, other in (pair, pair[::-1]) if len(pair) == 2 else ():
            known = self._indices.get(id(one))
            if known is None or known[0]() is not one or other.dim() != 1 or len(other) < 2:
                continue
            shape, site = known[1], known[2]
            if shape[0] != len(other):
                continue
            place = self._argmaxes.get(site)
            if place is None and len(self._argmaxes) < _PLACES:
                place = self._argmaxes[site] = FlatArgmax(site, shape, list(other.shape), root=self._root)
                self.run.kinds.argmaxes.append(place)
            if place is not None:
                place.times += 1
                self.session.judge_soon()

    # means of means

    def _averaged(self, frame: FrameType, loader: tuple[int, int, int | None]) -> None:
        code = frame.f_code
        path = self.session.sites.absolute(code.co_filename)
        key = (path, code.co_name)
        if key not in self._places:
            node = blame.function_node(code, path)
            self._places[key] = list(_means_of_means(node)) if node is not None else []
        self._add_means(path, code.co_name, self._places[key], loader)

    def _add_means(
        self, path: str, function: str, places: list[tuple[int, int]], loader: tuple[int, int, int | None]
    ) -> None:
        samples, size, site = loader
        for line, mean_line in places:
            known = self._means.get((path, line))
            if known is None and len(self._means) < _PLACES:
                known = self._means[path, line] = UnevenMean(
                    self.session.site_at(path, line, function),
                    self.session.site_at(path, mean_line, function),
                    site,
                    samples,
                    size,
                    True,
                )
                self.run.kinds.means.append(known)
            if known is not None:
                known.times += 1


class _After(OperatorWatch):
    """A look at what follows a forward without gradients: comparisons and indices only."""

    def begin(self, after_step: bool = False) -> None:
        """Start, unless looks are forbidden or one is on. That of a step which has ended is about to end as well."""
        operators = self.session.operators
        self._forbidden = operators._forbidden
        if after_step or not operators.on:
            self.start()

    def tell(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        self._seen += 1
        if self._seen > _OPERATORS:
            self.on = False
            return
        name = getattr(func, "__name__", "")
        if name not in _EQUAL and name != "argmax":
            return
        frame = sys._getframe(2)
        while frame.f_code.co_filename == INVISIBLE and frame.f_back is not None:
            frame = frame.f_back  # another look's mode is on as well, and stands between
        if self.session.sites.is_user(frame.f_code.co_filename):
            self.session.emit("metric_operation", (name, args, kwargs, result, frame))


def _function_at(path: str, line: int) -> ast.AST | None:
    """The innermost function that holds a line, or the file."""
    root = blame.tree(path)
    if root is None:
        return None
    holding = [
        n
        for n in ast.walk(root)
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.lineno <= line <= (n.end_lineno or n.lineno)
    ]
    return max(holding, key=lambda n: n.lineno, default=root)


def _means_of_means(function: ast.AST, loss_line: int | None = None) -> list[tuple[int, int]]:
    """(line that adds a batch's mean, line that averages them) in a function that evaluates.

    Either a list that gets a mean in a loop and is averaged, or a sum of means divided by the number of batches.
    With `loss_line`, the mean is the loss that is called there.
    """
    found = []
    loops = [n for n in ast.walk(function) if isinstance(n, ast.For | ast.AsyncFor)]
    for loop in loops:
        iterated = ast.dump(loop.iter)
        for node in ast.walk(loop):
            added = _added(node)
            if added is None or not _is_mean(added[1], loop, loss_line):
                continue
            name, line = added[0], added[1].lineno
            for later in ast.walk(function):
                if getattr(later, "lineno", 0) > line and _averages(later, name, iterated):
                    found.append((line, later.lineno))  # type: ignore[attr-defined]
                    break
    return found


def _added(node: ast.AST) -> tuple[str, ast.expr] | None:
    """`scores.append(x)` or `total += x`: the name and what is added."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return (node.target.id, node.value) if isinstance(node.target, ast.Name) else None
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
        and len(node.args) == 1
    ):
        return node.func.value.id, node.args[0]
    return None


_UNPACKED = ("item", "cpu", "detach", "float", "numpy", "tolist")


def _is_mean(value: ast.expr, loop: ast.For | ast.AsyncFor, loss_line: int | None) -> bool:
    """`(...).mean()`, or the loss; perhaps with `.item()` and the like behind; not multiplied by the batch's size."""
    named = False
    while True:
        if isinstance(value, ast.Name) and not named:
            bound = _bound(loop, value)
            if bound is None:
                return False
            value, named = bound, True
        elif not isinstance(value, ast.Call):
            return False
        elif isinstance(value.func, ast.Attribute) and value.func.attr in _UNPACKED:
            value = value.func.value
        elif loss_line is not None:
            return value.lineno <= loss_line <= (value.end_lineno or value.lineno)
        else:
            return isinstance(value.func, ast.Attribute) and value.func.attr == "mean"


def _bound(loop: ast.For | ast.AsyncFor, name: ast.Name) -> ast.expr | None:
    """What a name is bound to in a loop, if that is one thing and it is done before the name is used."""
    bound: list[ast.expr] = []
    for node in ast.walk(loop):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        if any(isinstance(n, ast.Name) and n.id == name.id for t in targets for n in ast.walk(t)):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name) or len(node.targets) > 1:
                return None
            bound.append(node.value)
    return bound[0] if len(bound) == 1 and bound[0].lineno < name.lineno else None


def _averages(node: ast.AST, name: str, iterated: str) -> bool:
    """`sum(name) / len(name)`, `np.mean(name)`, `name / len(loader)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        below = node.right
        counted = isinstance(below, ast.Call) and isinstance(below.func, ast.Name) and below.func.id == "len"
        if not counted:
            return False
        argument = below.args[0] if isinstance(below, ast.Call) and below.args else None
        if isinstance(argument, ast.Name) and argument.id == name:
            return True
        return (
            argument is not None
            and ast.dump(argument) in iterated
            and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.left))
        )
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("mean", "fmean")
        and any(isinstance(a, ast.Name) and a.id == name for a in node.args)
    )
