"""Who holds it: the variables, attributes and containers that the program can reach from its frames.

Searched only on suspicion (about a millisecond), from the frames of the user's functions that are running.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from torchcaliper.run import blame
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instruments.graphs import Tag, Walk, tensors

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

CONTAINERS = (list, tuple, dict, deque, set)
#: objects looked at in one search, and how deep below a variable; what a training loop keeps lies near its frames
_LARGEST = 5000
_DEEPEST = 4
#: items of a container that are looked into: its first and last ones
_ENDS = 4
#: frames from the inside out
_FRAMES = 12
#: nodes walked for one tensor
_NODES = 400
#: graphs of earlier steps that one tensor must reach before it counts as computed from the history; one previous loss
#: or a difference of two is sound, and so is a container with a window of a few
VARIABLE = 4
CONTAINER = 8
_SKIPPED = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, Optimizer, DataLoader, torch.device)


@dataclass(slots=True)
class Place:
    """A value that can be reached from a frame, and by which name the source would add to it."""

    path: str
    value: Any
    name: str
    attribute: bool
    owner: type | CodeType  # where statements that add to the name are looked for
    code: CodeType  # of the frame it was reached from

    def growth(self, session: Session) -> int | None:
        """The statement that adds to it."""
        found = blame.growth(session, self.owner, self.name, attribute=self.attribute, surely=True)
        if found is None and self.attribute:
            found = blame.growth(session, self.code, self.name, attribute=True, surely=True)
        if found is None:
            found = blame.growth(session, self.code, self.name, attribute=self.attribute, surely=True, whole_file=True)
        return found


@dataclass(slots=True)
class Holding:
    """A place that holds graphs of earlier steps."""

    path: str
    kind: str
    site: int | None
    items: int
    tags: list[Tag]


class _Places:
    def __init__(self) -> None:
        self.found: dict[int, list[Place]] = {}
        self.count = 0
        self._visited: set[int] = set()

    def add(self, place: Place, depth: int) -> None:
        value = place.value
        if isinstance(value, _SKIPPED) or self.count > _LARGEST:
            return
        self.count += 1
        key = id(value)
        if isinstance(value, torch.Tensor):
            if not isinstance(value, nn.Parameter):
                self.found.setdefault(key, []).append(place)
        elif isinstance(value, CONTAINERS):
            known = self.found.setdefault(key, [])
            known.append(place)
            if len(known) == 1 and depth:
                for label, child in _ends(value):
                    if not isinstance(child, torch.Tensor):
                        self.add(
                            Place(
                                f"{place.path}[{label}]", child, place.name, place.attribute, place.owner, place.code
                            ),
                            depth - 1,
                        )
        elif key not in self._visited and depth:
            self._visited.add(key)
            if isinstance(value, MethodType):
                self.add(
                    Place(place.path, value.__self__, place.name, place.attribute, place.owner, place.code), depth - 1
                )
            elif isinstance(value, FunctionType):
                for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
                    try:
                        content = cell.cell_contents
                    except ValueError:  # not yet bound
                        continue
                    self.add(Place(name, content, name, False, value.__code__, place.code), depth - 1)
            else:
                self._attributes(place, depth)

    def _attributes(self, place: Place, depth: int) -> None:
        value = place.value
        for name, child in attributes(value):
            self.add(Place(f"{place.path}.{name}", child, name, True, type(value), place.code), depth - 1)
        if isinstance(value, nn.Module):
            for name, layer in value._modules.items():
                if layer is not None:
                    self.add(Place(f"{place.path}.{name}", layer, name, True, type(value), place.code), depth)
        elif depth == _DEEPEST:  # containers that a class shares among its objects
            for name, child in list(vars(type(value)).items()):
                if isinstance(child, list | dict | deque):
                    self.add(Place(f"{place.path}.{name}", child, name, True, type(value), place.code), depth - 1)


_OF_MODULE = frozenset(nn.Module().__dict__) - {"training"}


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """An object's own attributes, without those that every nn.Module has."""
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        module = isinstance(value, nn.Module)
        for name, child in list(own.items()):
            if isinstance(name, str) and not (module and name in _OF_MODULE):
                yield name, child
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if isinstance(name, str) and name not in ("__dict__", "__weakref__"):
                try:
                    yield name, object.__getattribute__(value, name)
                except AttributeError:
                    continue


def _ends(container: Any) -> Iterator[tuple[str, Any]]:
    """(label, item) of the first and last items."""
    size = len(container)
    if isinstance(container, dict):
        keys = list(container)
        picked = keys if size <= 2 * _ENDS else keys[:_ENDS] + keys[-_ENDS:]
        yield from ((repr(k) if isinstance(k, str | int) else "...", container[k]) for k in picked)
    elif isinstance(container, set):
        return
    else:
        picked_at = range(size) if size <= 2 * _ENDS else [*range(_ENDS), *range(size - _ENDS, size)]
        yield from ((str(i), container[i]) for i in picked_at)


def places(session: Session) -> list[list[Place]]:
    """Tensors and containers that the running functions can reach, each with all the ways that lead to it."""
    found = _Places()
    frames = session.user_frames()[:_FRAMES]
    for frame in frames:
        code = frame.f_code
        for name, value in locals_of(frame).items():
            if not name.startswith("__"):
                found.add(Place(name, value, name, False, code, code), _DEEPEST)
    modules: set[int] = set()
    for frame in frames:
        if id(frame.f_globals) in modules:
            continue
        modules.add(id(frame.f_globals))
        for name, value in list(frame.f_globals.items()):
            if not name.startswith("__"):
                found.add(Place(name, value, name, False, frame.f_code, frame.f_code), _DEEPEST)
    return list(found.found.values())


def graph_holders(
    session: Session, old: Callable[[Tag], bool], age: Callable[[Tag], int], variable: int = VARIABLE
) -> list[Holding]:
    """The places that hold graphs for whose tags `old` holds, those that a statement of the program adds to if any.

    `age` says which step a tag is of; `variable` is how many steps a single tensor must reach back to.
    """
    sure: dict[int, Holding] = {}
    unsure: list[Holding] = []
    for ways in places(session):
        value = ways[0].value
        found = (
            _variable(value, old, age, variable)
            if isinstance(value, torch.Tensor)
            else _container(value, old, age, variable)
        )
        if found is None:
            continue
        kind, items, tags, label = found
        for way in ways:
            site = way.growth(session)
            if site is not None:
                known = sure.get(site)
                if known is None or len(tags) > len(known.tags):
                    sure[site] = Holding(way.path + label, kind, site, items, tags)
                break
        else:
            if kind != "variable":
                unsure.append(Holding(ways[0].path + label, kind, None, items, tags))
    return list(sure.values()) or unsure[:1]


def _variable(
    tensor: torch.Tensor, old: Callable[[Tag], bool], age: Callable[[Tag], int], least: int
) -> tuple[str, int, list[Tag], str] | None:
    if tensor.grad_fn is None:
        return None
    tags = [t for t in Walk((tensor,), _NODES).tags.values() if old(t)]
    return ("variable", 1, tags, "") if len({age(t) for t in tags}) >= least else None


def _container(
    value: Any, old: Callable[[Tag], bool], age: Callable[[Tag], int], least: int
) -> tuple[str, int, list[Tag], str] | None:
    if isinstance(value, deque) and value.maxlen is not None:
        return None  # a window: it does not grow
    if len(value) < CONTAINER:
        for label, item in _ends(value):
            if isinstance(item, torch.Tensor) and (found := _variable(item, old, age, least)) is not None:
                return *found[:3], f"[{label}]"
        return None
    if isinstance(value, tuple):
        return None
    items = list(value.values()) if isinstance(value, dict) else list(value)
    held = [t for item in items for t in tensors(item, 2) if t.grad_fn is not None]
    if len(held) < CONTAINER:
        return None
    stride = max(1, len(held) // CONTAINER)
    sample = held[::stride][:CONTAINER]
    tags = []
    for tensor in sample:
        reached = [t for t in Walk((tensor,), _NODES).tags.values() if old(t)]
        tags.extend(reached)
    # The newest may be of this very step.
    steps = {age(t) for t in tags}
    return (type(value).__name__, len(held), tags, "") if len(steps) >= CONTAINER - 2 else None
