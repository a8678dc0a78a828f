"""Memory that rises step by step, and the container that grows along with it."""

from __future__ import annotations

import ast
import os
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset

from torchcaliper.run import blame
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.holders import CONTAINERS, Place, places
from torchcaliper.run.record import MemoryGrowth

if TYPE_CHECKING:
    from torchcaliper.run.events import LoaderEpoch, Step
    from torchcaliper.run.session import Session

#: seconds between two samples at least
_INTERVAL = 0.1
#: samples kept; beyond, every second one is dropped
_SAMPLES = 256
#: a rise worth a search: steps, bytes, and the share of what there was
_STEPS = 64
_BYTES = 64 << 20
_SHARE = 0.2
#: a quarter of the window must bring at least this share of the rise: a cache that fills, or an allocator that warms
#: up, rises at first and then no more
_QUARTER = 0.1
#: rise between two searches, and searches in one run
_SEARCH_BYTES = 16 << 20
_SEARCHES = 24
#: snapshots in which a container must have grown from one to the next
_GROWN = 3
#: share of the rise that the container must account for
_ACCOUNTED = 0.5
#: items of a container that are measured
_MEASURED = 16


class Memory(Instrument):
    """Fills `run.lifetime.growth`."""

    name = "memory"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._next = 0.0
        self._samples: list[tuple[int, int]] = []
        self._searched_at = 0
        self._searches = 0
        #: path of a container -> (id, step and size at each search)
        self._sizes: dict[str, tuple[int, list[tuple[int, int]]]] = {}
        self._record: MemoryGrowth | None = None
        self._epochs: list[int] = []  # steps at which an iteration over a DataLoader began
        self._page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
        self._pid = os.getpid()
        self._cuda = False

    def _used(self) -> int:
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            if not self._cuda:  # what torch allocates there is the memory that runs out
                self._cuda = True
                self._samples.clear()
            return torch.cuda.memory_allocated()
        if sys.platform == "linux":
            # Not kept open: the program's own files must get the descriptors they would have had.
            with open("/proc/self/statm", "rb", buffering=0) as file:
                return int(file.read(64).split()[1]) * self._page
        if sys.platform == "darwin":
            import resource

            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the peak, in bytes there
        return 0

    def on_loader_epoch(self, event: LoaderEpoch) -> None:
        if len(self._epochs) < 3 and (not self._epochs or self.run.steps > self._epochs[-1]):
            self._epochs.append(self.run.steps)

    def on_step_end(self, event: Step) -> None:
        now = monotonic()
        if now < self._next or event.nested or os.getpid() != self._pid:
            return
        self._next = now + _INTERVAL
        used = self._used()
        if not used:
            self._next = float("inf")
            return
        samples = self._samples
        samples.append((self.run.steps, used))
        if len(samples) > _SAMPLES:
            del samples[1::2]
        if not self._searched_at:
            self._searched_at = used
        if used - self._searched_at >= _SEARCH_BYTES and self._searches < _SEARCHES:
            self._searched_at = used + (self._searches * _SEARCH_BYTES) // 2
            self._searches += 1
            self._search(used)

    def on_step_passed(self, event: Step) -> None:
        self.on_step_end(event)

    def _search(self, used: int) -> None:
        step = self.run.steps
        grown: list[tuple[Place, list[tuple[int, int]], list[Place]]] = []
        for ways in places(self.session):
            value = ways[0].value
            if not isinstance(value, CONTAINERS) or isinstance(value, tuple) or not value:
                continue
            place = ways[0]
            known = self._sizes.get(place.path)
            if known is None or known[0] != id(value) or known[1][-1][1] > len(value):
                known = self._sizes[place.path] = (id(value), [])
            if not known[1] or known[1][-1][0] < step:
                known[1].append((step, len(value)))
            sizes = known[1]
            if len(sizes) > _GROWN and all(
                a[1] < b[1] for a, b in zip(sizes[-_GROWN - 1 :], sizes[-_GROWN:], strict=False)
            ):
                grown.append((place, sizes, ways))
        first, steady = self._rise(used)
        if first is None:
            return
        for place, sizes, ways in grown:
            held = _bytes(place.value)
            if held < _ACCOUNTED * (used - first[1]) or _bounded(self.session, ways):
                continue
            site = next((s for way in ways if (s := way.growth(self.session)) is not None), None)
            if site is None or not self._outlives_epochs(sizes):
                continue
            if self._record is None:
                self._record = MemoryGrowth("cuda" if self._cuda else "cpu")
                self.run.lifetime.growth.append(self._record)
            record = self._record
            record.first_bytes, record.last_bytes, record.steady = first[1], used, steady
            record.first_step, record.last_step = first[0], step
            record.holder, record.kind = place.path, type(place.value).__name__
            record.items, record.holder_bytes, record.site = len(place.value), held, site
            record.items_per_step = (sizes[-1][1] - sizes[0][1]) / max(1, sizes[-1][0] - sizes[0][0])
            self.session.judge_soon()
            return

    def _outlives_epochs(self, sizes: list[tuple[int, int]]) -> bool:
        """What is gathered within one epoch for its metric is emptied at its end."""
        if len(self._epochs) > 1:
            return sizes[0][0] < self._epochs[1] < sizes[-1][0] or sizes[-1][0] - sizes[0][0] > 2 * self._epochs[1]
        return not self._epochs

    def _rise(self, used: int) -> tuple[tuple[int, int] | None, bool]:
        """The sample from which memory has risen until now, and whether it did so in every quarter of the way."""
        samples = self._samples
        # The first steps allocate what stays: optimizer state, caches, buffers.
        start = next((s for s in samples if s[0] >= 4), None)
        if start is None:
            return None, False
        span, rise = self.run.steps - start[0], used - start[1]
        if span < _STEPS or rise < _BYTES or rise < _SHARE * start[1]:
            return None, False
        level, steady = start[1], True
        for quarter in range(1, 5):
            end = start[0] + span * quarter // 4
            reached = max((s for s in samples if s[0] <= end), default=start)[1]
            steady &= reached - level >= _QUARTER * rise
            level = reached
        return start, steady


def _bytes(container: Any) -> int:
    """Bytes of the tensors and arrays in a container, from a sample of its items."""
    items = list(container.values()) if isinstance(container, dict) else list(container)
    sample = items[:: max(1, len(items) // _MEASURED)][:_MEASURED]
    return sum(_size(item, 3) for item in sample) * len(items) // max(1, len(sample))


def _size(item: Any, depth: int) -> int:
    if isinstance(item, torch.Tensor):
        return item.numel() * item.element_size()
    if depth and isinstance(item, list | tuple):
        return sum(_size(i, depth - 1) for i in item[:64])
    if depth and isinstance(item, dict):
        return sum(_size(i, depth - 1) for i in list(item.values())[:64])
    size = getattr(item, "nbytes", 0)
    return size if isinstance(size, int) else 0


_NAMES = (ast.Name, ast.Attribute)
_SHRINKS = ("pop", "popleft", "popitem", "clear", "remove")


def _bounded(session: Session, ways: list[Place]) -> bool:
    """Whether the program sees to it that the container does not grow for ever.

    It has a bound of its own, belongs to a dataset, or the source empties it, measures it against a limit, fills it by
    key only where the key is missing, or makes it anew outside of a constructor or within a loop.
    """
    if getattr(ways[0].value, "maxlen", None) is not None:
        return True
    for way in ways:
        if isinstance(way.owner, type) and issubclass(way.owner, Dataset):
            return True
        tree = blame.tree(session.sites.absolute(way.code.co_filename))
        if tree is None:
            return True
        if _source_bounds(tree, way.name, way.attribute):
            return True
    return False


def _source_bounds(tree: ast.Module, name: str, attribute: bool) -> bool:
    def named(node: ast.AST) -> bool:
        while isinstance(node, ast.Subscript):
            node = node.value
        return (isinstance(node, ast.Attribute) and node.attr == name) or (
            not attribute and isinstance(node, ast.Name) and node.id == name
        )

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _SHRINKS and named(node.func.value):
                return True
        elif isinstance(node, ast.Delete) and any(named(t) for t in node.targets):
            return True
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            if any(isinstance(o, ast.In | ast.NotIn) for o in node.ops) and any(named(p) for p in parts):
                return True
            if any(
                isinstance(n, ast.Call) and getattr(n.func, "id", "") == "len" and n.args and named(n.args[0])
                for p in parts
                for n in ast.walk(p)
            ):
                return True
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor) or (
            attribute and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__"
        ):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Assign) and any(isinstance(t, _NAMES) and named(t) for t in inner.targets):
                    return True
    return False
