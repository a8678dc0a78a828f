"""`torchcaliper.graph()`: the autograd graph behind a tensor, as text and as a picture."""

from __future__ import annotations

import html
import os
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from torchcaliper.report.wording import shown_path
from torchcaliper.run.instruments.origins import KEY

#: nodes beyond this are left out, and drawn in a picture
_LONGEST, _DRAWN = 20_000, 1_500
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 168, 40, 24, 36


@dataclass(slots=True)
class Node:
    """One operator of the graph; the leaves it reads are named in `leaves`."""

    number: int  # from 0, the tensor's own, backwards
    name: str
    shape: list[int]
    place: str  # file:line, where a watch or a look saw the operator being called
    inputs: list[int] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    depth: int = 0  # longest way from the tensor


@dataclass(slots=True)
class Graph:
    """The graph of a tensor: `str()` for text, `.svg()` for a picture (shown by notebooks).

    `reached` are the names of the parameters and other leaves that a gradient would reach; `not_reached` those of the
    module's trainable parameters that it would not, and `frozen` those that do not require grad.
    """

    nodes: list[Node] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)
    not_reached: list[str] = field(default_factory=list)
    frozen: list[str] = field(default_factory=list)
    complete: bool = True
    note: str = ""

    def __str__(self) -> str:
        return "\n".join(_text(self)) + "\n"

    def svg(self) -> str:
        """An SVG picture, the tensor on top."""
        return _svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()


def graph(tensor: torch.Tensor, module: nn.Module | None = None) -> Graph:
    """The autograd graph that `tensor` (a loss) was computed by; nothing of it changes.

    With `module`, its parameters have their names, and those that a gradient does not reach are listed. Lines of your
    code are known for what was computed inside `torchcaliper.watch()` or `torchcaliper.look()`.
    """
    result = Graph()
    names = {id(p): n for n, p in module.named_parameters()} if module is not None else {}
    found: set[int] = set()
    root = tensor.grad_fn
    if root is None:
        result.note = (
            "a leaf: backward() would give it a gradient, and nothing else"
            if tensor.requires_grad
            else "no graph: it was not computed from anything that requires grad"
        )
    else:
        _walk(root, result, names, found)
    if module is not None:
        for name, parameter in module.named_parameters():
            if not parameter.requires_grad:
                result.frozen.append(name)
            elif id(parameter) not in found:
                result.not_reached.append(name)
    return result


def _walk(root: Any, result: Graph, names: dict[int, str], found: set[int]) -> None:
    numbers: dict[Any, int] = {root: 0}
    cwd = os.getcwd()
    queue = deque([root])
    while queue:
        node = queue.popleft()
        site = node.metadata.get(KEY)
        place = f"{shown_path(site[0], cwd)}:{site[1]}" if site is not None else ""
        entry = Node(numbers[node], re.sub(r"(Backward)?\d*$", "", node.name()), _shape(node), place)
        result.nodes.append(entry)
        for child, _ in node.next_functions:
            if child is None:
                continue
            variable = getattr(child, "variable", None) if not child.next_functions else None
            if isinstance(variable, torch.Tensor):
                name = names.get(id(variable)) or f"leaf {list(variable.shape)}"
                entry.leaves.append(name)
                if id(variable) not in found:
                    found.add(id(variable))
                    result.reached.append(name)
                continue
            if child not in numbers:
                if len(numbers) >= _LONGEST:
                    result.complete = False
                    continue
                numbers[child] = len(numbers)
                queue.append(child)
            entry.inputs.append(numbers[child])
    _depths(result.nodes)


def _depths(nodes: list[Node]) -> None:
    """Longest ways from the root, in topological order."""
    waiting = [0] * len(nodes)
    for node in nodes:
        for i in node.inputs:
            waiting[i] += 1
    ready = [0] if nodes else []
    while ready:
        node = nodes[ready.pop()]
        for i in node.inputs:
            nodes[i].depth = max(nodes[i].depth, node.depth + 1)
            waiting[i] -= 1
            if not waiting[i]:
                ready.append(i)


def _shape(node: Any) -> list[int]:
    try:
        return [int(n) for n in node._input_metadata[0].shape]
    except (AttributeError, IndexError, RuntimeError, TypeError):
        return []


def _text(known: Graph) -> list[str]:
    lines = []
    for node in sorted(known.nodes, key=lambda n: (n.depth, n.number)):
        reads = [f"#{i}" for i in node.inputs] + node.leaves
        line = f"#{node.number:<4} {node.name:<22} {node.shape!s:<18} {node.place}".rstrip()
        lines.append(line + (f"   <- {', '.join(reads)}" if reads else ""))
    if known.note:
        lines.append(known.note)
    lines.append(f"reached: {', '.join(known.reached) or 'nothing'}")
    if known.not_reached:
        lines.append(f"not reached: {', '.join(known.not_reached)}")
    if known.frozen:
        lines.append(f"frozen: {', '.join(known.frozen)}")
    if not known.complete:
        lines.append(f"(the first {len(known.nodes):,} operators of a longer graph)")
    return lines


def _svg(known: Graph) -> str:
    layers: dict[int, list[Node]] = {}
    for node in known.nodes[:_DRAWN]:
        layers.setdefault(node.depth, []).append(node)
    places: dict[int, tuple[int, int]] = {}
    widest = max((len(layer) for layer in layers.values()), default=1)
    width = widest * (_WIDTH + _GAP_X) + _GAP_X
    for row, depth in enumerate(sorted(layers)):
        layer = layers[depth]
        begin = (width - len(layer) * (_WIDTH + _GAP_X) + _GAP_X) // 2
        # Below what reads it, so that lines cross little.
        layer.sort(key=lambda node: _above(node, known, places))
        for column, node in enumerate(layer):
            places[node.number] = (begin + column * (_WIDTH + _GAP_X), _GAP_X + row * (_HEIGHT + _GAP_Y))
    height = len(layers) * (_HEIGHT + _GAP_Y) + 2 * _GAP_X
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">'
    ]
    for node in known.nodes:
        for i in node.inputs:
            if node.number in places and i in places:
                (x1, y1), (x2, y2) = places[node.number], places[i]
                x1, y1, x2 = x1 + _WIDTH // 2, y1 + _HEIGHT, x2 + _WIDTH // 2
                parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#999"/>')
    for node in known.nodes:
        if node.number in places:
            parts += _box(node, *places[node.number])
    footer = ""
    if known.not_reached:
        footer = "not reached: " + ", ".join(known.not_reached)
    elif known.note:
        footer = known.note
    if footer:
        parts.append(f'<text x="{_GAP_X}" y="{height - 8}" fill="#b00">{html.escape(footer)}</text>')
    return "\n".join([*parts, "</svg>"])


def _above(node: Node, known: Graph, places: dict[int, tuple[int, int]]) -> float:
    readers = [places[n.number][0] for n in known.nodes if node.number in n.inputs and n.number in places]
    return sum(readers) / len(readers) if readers else 0.0


def _box(node: Node, x: int, y: int) -> list[str]:
    fill = "#e6f2e6" if node.leaves else "#eef2f7"
    below = ", ".join(node.leaves) or " ".join(
        part for part in (str(node.shape) if node.shape else "", node.place) if part
    )
    title = html.escape(f"{node.name} {node.shape} {node.place} {' '.join(node.leaves)}")
    return [
        f'<g><title>{title}</title><rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="{fill}" '
        'stroke="#678"/>',
        f'<text x="{x + 6}" y="{y + 16}">{html.escape(node.name)}</text>',
        f'<text x="{x + 6}" y="{y + 31}" fill="#567" font-size="9">{html.escape(below[:34])}</text></g>',
    ]
