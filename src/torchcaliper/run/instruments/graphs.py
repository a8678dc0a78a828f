"""Tags on nodes of the autograd graph: they live and die with the graph, and tell which step made it.

A tag is put into the `metadata` of a node, which belongs to the C++ node and is freed with it. Only weak references to
tags are kept, so that whether a tag is alive says whether something still holds the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

#: key of a tag in `Node.metadata`: on the root of a backward, and on outputs of forwards
TAG = "torchcaliper_tag"
#: key of a tag on every node of a graph (put only in a few steps)
MARK = "torchcaliper_mark"


class Tag:
    """Where and when a piece of graph was made."""

    __slots__ = ("__weakref__", "backwards", "clock", "forward", "number", "root", "site", "step", "training")

    def __init__(
        self,
        number: int,
        step: int,
        backwards: int,
        root: int | None,
        site: int | None,
        forward: bool,
        clock: int,
        training: bool,
    ) -> None:
        self.number = number
        self.step = step  # optimizer steps done before
        self.backwards = backwards  # backward passes done before
        self.root = root  # the module that made it; None for the root of a backward
        self.site = site
        self.forward = forward  # an output of a forward (False: a loss that went backward)
        self.clock = clock  # steps of the optimizers that hold the root's parameters
        self.training = training


def tensors(value: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    """The tensors in nested tuples, lists and dictionaries, those of the outer levels only."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and isinstance(value, list | tuple):
        for item in value[:16]:
            yield from tensors(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in list(value.values())[:16]:
            yield from tensors(item, depth - 1)


def tag_of(tensor: torch.Tensor) -> Tag | None:
    """The tag that the tensor's own node carries."""
    node = tensor.grad_fn
    metadata: Any = node.metadata if node is not None else {}
    found: Tag | None = metadata.get(TAG)
    return found


class Walk:
    """Nodes reached from some tensors against the direction of the computation, breadth first and bounded."""

    __slots__ = ("complete", "nodes", "tags")

    def __init__(self, starts: Iterable[torch.Tensor], limit: int, mark: Tag | None = None) -> None:
        self.tags: dict[int, Tag] = {}  # by number; those on marked nodes too
        self.nodes = 0
        self.complete = True
        seen: set[Any] = set()
        level = [t.grad_fn for t in starts if t.grad_fn is not None]
        seen.update(level)
        while level:
            following = []
            for node in level:
                self.nodes += 1
                if self.nodes > limit:
                    self.complete = False
                    return
                if node.name() == "torch::autograd::AccumulateGrad":  # belongs to the parameter, not to a step
                    continue
                metadata: Any = node.metadata
                if metadata:
                    tag = metadata.get(TAG)
                    if tag is not None:
                        self.tags[tag.number] = tag
                    tag = metadata.get(MARK)
                    if tag is not None:
                        self.tags[tag.number] = tag
                    elif mark is not None:
                        metadata[MARK] = mark
                elif mark is not None:
                    metadata[MARK] = mark
                for below, _ in node.next_functions:
                    if below is not None and below not in seen:
                        seen.add(below)
                        following.append(below)
            level = following
