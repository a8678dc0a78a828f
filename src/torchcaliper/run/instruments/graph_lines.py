"""Which line of the program made a node of the autograd graph.

In close looks every operator leaves the number of its line on the node it made. Later graphs of the same program are
made of the same nodes in the same order, so their lines are known too.
"""

from __future__ import annotations

from typing import Any

import torch

from torchcaliper.run.events import Operation
from torchcaliper.run.transforms import node_of

#: key of the line's number in `Node.metadata`
SITE = "torchcaliper_site"
#: nodes of a graph that are put in order at most, and different graphs remembered
_NODES, _GRAPHS = 20_000, 8
ACCUMULATE = "torch::autograd::AccumulateGrad"


def in_order(tensors: Any, limit: int = _NODES) -> list[Any]:
    """Nodes that tensors were computed by, in the order in which they were made; without the leaves.

    Empty when there are more than `limit`.
    """
    left = [t.grad_fn for t in tensors if t.grad_fn is not None]
    seen = set(left)
    found: list[tuple[int, int, Any]] = []
    while left:
        node = left.pop()
        if node.name() == ACCUMULATE:
            continue
        found.append((node._sequence_nr(), len(found), node))
        if len(found) > limit:
            return []
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                left.append(below)
    found.sort(key=lambda entry: entry[:2])
    return [node for _, _, node in found]


class GraphLines:
    """Lines learnt in looks, told for any graph."""

    def __init__(self) -> None:
        self._known: list[tuple[list[str], list[int | None]]] = []

    @staticmethod
    def note(event: Operation) -> None:
        """An operator was seen: leave its line on its node."""
        if event.site is None:
            return
        result = event.result
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor):
                node = node_of(tensor)
                if node is not None:
                    node.metadata.setdefault(SITE, event.site)

    def learn(self, nodes: list[Any]) -> None:
        """Remember the lines of a graph that was made during a look."""
        names = [node.name() for node in nodes]
        if any(names == known for known, _ in self._known):
            return
        self._known.append((names, own_sites(nodes)))
        del self._known[:-_GRAPHS]

    def sites(self, nodes: list[Any]) -> list[tuple[int | None, bool]]:
        """For each node the number of its line, and whether that is certain."""
        own = own_sites(nodes)
        if any(site is not None for site in own):
            return [(site, True) for site in own]
        names = [node.name() for node in nodes]
        for known, sites in self._known:
            if known == names:
                return [(site, True) for site in sites]
        best: list[tuple[int | None, bool]] = [(None, False)] * len(names)
        most = 0
        for known, sites in self._known:
            # The same program over another number of steps or layers: alike from both ends.
            shorter = min(len(known), len(names))
            front = next((i for i in range(shorter) if known[i] != names[i]), shorter)
            back = next((i for i in range(shorter) if known[-1 - i] != names[-1 - i]), shorter)
            if front + back > most:
                most = front + back
                best = [(None, False)] * len(names)
                for i in range(front):
                    best[i] = (sites[i], False)
                for i in range(1, back + 1):
                    best[-i] = (sites[-i], i <= len(names) - front or known[-i:] == names[-i:])
        return best


def own_sites(nodes: list[Any]) -> list[int | None]:
    """Lines left on nodes; a part of a composite operator has that of the operator it was made for."""
    made_for: dict[Any, int] = {}
    sites: list[int | None] = [None] * len(nodes)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        metadata = node.metadata
        site = metadata.get(SITE) if metadata else None
        if site is None:
            site = made_for.get(node)
        sites[i] = site
        if site is not None:
            for below, _ in node.next_functions:
                if below is not None:
                    made_for[below] = site  # the latest to overwrite is the earliest consumer
    return sites
