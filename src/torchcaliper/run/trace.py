"""The operators of one look, noted at the nodes of the autograd graph that they made.

A node carries its note itself (`Node.metadata` belongs to the C++ node and goes with it), so nothing of the program is
kept alive.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchcaliper.run.events import Operation
from torchcaliper.run.frames import locals_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_KEY, _OUTPUT = "torchcaliper look", "torchcaliper output"
#: nodes between a loss and the network's output
_NEAR = 200
#: operators of one look that are noted; an unrolled loop may have any number
_MOST = 20_000
#: operators whose layer is looked for on the stack
_OF_LAYERS = frozenset(
    {
        *("softmax", "log_softmax", "lstm", "gru", "rnn_tanh", "rnn_relu", "scaled_dot_product_attention", "bmm"),
        *("conv1d", "conv2d", "conv3d", "baddbmm", "view", "reshape", "matmul"),
    }
)


class Op:
    """One call of an operator."""

    __slots__ = (
        *("args", "enters", "from_parts", "layer", "made_site", "mask", "masked", "name", "parameters"),
        *("shape", "site", "sizes"),
    )

    def __init__(self, name: str, site: int | None) -> None:
        self.name, self.site = name, site
        self.made_site: int | None = None
        self.layer = ""
        self.shape: tuple[int, ...] = ()
        self.sizes: tuple[tuple[int, ...], ...] = ()  # of its tensor arguments
        self.args: tuple[Any, ...] = ()  # plain arguments by position, None for all others
        self.enters: frozenset[int] = frozenset()  # inputs of the network that it takes in, as they came
        self.parameters: tuple[int, ...] = ()  # numbers of the parameters among its arguments
        self.masked = False  # a square tensor without a graph, or one of bool, is among its arguments
        self.mask: int | None = None  # where that was made, if it was in this look
        self.from_parts: Op | None = None  # the cat or stack that its first argument came from, through views


class Trace:
    """The look that is on."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._look = 0
        self._count = 0
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], frozenset[int], Op | None]] = {}

    @property
    def count(self) -> int:
        return self._count

    def clear(self) -> None:
        """A new look begins."""
        self._look += 1
        self._count = 0
        self._known.clear()

    def input(self, tensor: torch.Tensor, number: int) -> None:
        """`tensor` is an input of the network, by that number."""
        self._remember(tensor, frozenset((number,)), None)

    def _remember(self, tensor: torch.Tensor, inputs: frozenset[int], op: Op | None) -> None:
        key, known = id(tensor), self._known
        known[key] = (weakref.ref(tensor), inputs, op)

    def inputs_of(self, tensor: torch.Tensor) -> frozenset[int]:
        """Inputs that a tensor without a graph was made from."""
        entry = self._known.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else frozenset()

    def maker(self, tensor: torch.Tensor) -> Op | None:
        """The operator a tensor came from."""
        entry = self._known.get(id(tensor))
        return entry[2] if entry is not None and entry[0]() is tensor else None

    def add(self, event: Operation) -> Op | None:
        """Note an operator; None when it gives no tensor or there have been too many."""
        results = [event.args[0]] if event.name == "__setitem__" and event.args else list(tensors((event.result,)))
        if not results or self._count >= _MOST or not isinstance(results[0], torch.Tensor):
            return None
        self._count += 1
        given = list(tensors((*event.args, *event.kwargs.values())))
        if any(is_lazy(tensor) for tensor in (*given, results[0])):
            return None  # has no shape yet
        op = Op(event.name.strip("_"), event.site)
        op.shape = tuple(results[0].shape)
        op.sizes = tuple(tuple(t.shape) for t in given)
        op.args = tuple(_plain(a) for a in event.args)
        inputs: frozenset[int] = frozenset()
        for tensor in given:
            if not tensor.requires_grad:
                inputs |= self.inputs_of(tensor)
            elif isinstance(tensor, nn.Parameter):
                number = self.session.objects.known_parameter(tensor)
                if number is not None:
                    op.parameters += (number,)
        if op.name in _OF_LAYERS:
            self._find_layer(op)
        self._find_mask(op, given)
        self._find_parts(op, given)
        for result in results:
            node = result.grad_fn
            if node is None:
                self._remember(result, inputs if not result.requires_grad else frozenset(), op)
                continue
            op.enters = inputs
            self._remember(result, frozenset(), op)
            metadata: Any = node.metadata
            notes = metadata.get(_KEY)
            if notes is None or notes[0] != self._look:
                notes = metadata[_KEY] = (self._look, {})
            notes[1].setdefault(result.output_nr, op)
        return op

    def _find_parts(self, op: Op, given: list[torch.Tensor]) -> None:
        if op.name in ("cat", "stack", "concat", "concatenate") or not given:
            return
        before = self.maker(given[0])
        if before is not None and op.shape and op.name in _VIEWS | {"lstm", "gru", "rnn_tanh", "rnn_relu", "linear"}:
            op.from_parts = before if before.name in ("cat", "stack") else before.from_parts

    def _find_mask(self, op: Op, given: list[torch.Tensor]) -> None:
        if not given or given[0].requires_grad:
            for tensor in given[1:]:
                if tensor.requires_grad or tensor.dim() < 2:
                    continue
                if tensor.dtype is torch.bool or tensor.shape[-1] == tensor.shape[-2]:
                    op.masked = True
                    maker = self.maker(tensor)
                    op.mask = maker.mask if maker is not None else None
        elif op.name in ("tril", "triu"):
            op.mask = op.site
        else:
            maker = self.maker(given[0])
            op.mask = maker.mask if maker is not None else None

    def _find_layer(self, op: Op) -> None:
        """The torch layer within whose forward the operator runs: the one that the user's code called."""
        frame, told = sys._getframe(3), False
        while frame is not None and not self.session.sites.is_user(frame.f_code.co_filename):
            if frame.f_code.co_name == "forward":
                layer = locals_of(frame).get("self")
                if isinstance(layer, nn.Module):
                    kind = type(layer).__name__
                    made = self.session.objects.made(layer)
                    if made is not None and made[1] is not None and not (told and kind not in _TOLD):
                        told = kind in _TOLD
                        op.made_site, op.layer = made[1], kind
                    op.layer = op.layer or kind
            frame = frame.f_back  # type: ignore[assignment]

    def mark_output(self, output: torch.Tensor) -> None:
        """`output` is what the program's network gave."""
        if output.grad_fn is not None:
            metadata: Any = output.grad_fn.metadata
            metadata[_OUTPUT] = (self._look, output.output_nr)

    def output_below(self, loss: torch.Tensor) -> tuple[Any, int] | None:
        """The node of the network's output in the graph of a loss."""
        stack, seen = [loss.grad_fn], {loss.grad_fn}
        while stack and len(seen) < _NEAR:
            node = stack.pop(0)
            if node is None:
                continue
            metadata: Any = node.metadata
            note = metadata.get(_OUTPUT)
            if note is not None and note[0] == self._look:
                return node, note[1]
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    stack.append(following)
        return None

    def at(self, node: Any, number: int) -> Op | None:
        """The operator that made output `number` of a node, if it was noted in this look."""
        notes = node.metadata.get(_KEY)
        if notes is None or notes[0] != self._look:
            return None
        found = notes[1].get(number)
        return found if isinstance(found, Op) else None


#: layers that are told what their axes mean, rather than what holds them
_TOLD = frozenset(
    {"MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer", "LSTM", "GRU", "RNN"}
)
_VIEWS = frozenset(
    {
        *("view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "contiguous", "flatten", "unflatten"),
        *("movedim", "swapaxes", "t", "getitem", "to", "float", "dropout", "relu"),
    }
)


def _plain(value: Any) -> Any:
    if isinstance(value, int | float | str):
        return value
    return tuple(value) if isinstance(value, tuple | list) and all(isinstance(v, int) for v in value) else None


def tensors(values: Any, depth: int = 2) -> Iterator[torch.Tensor]:
    """Dense tensors among values and in the lists among them: others lack most operators."""
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.layout is torch.strided and not value.is_nested and not value.is_meta:
                yield value
        elif depth and isinstance(value, list | tuple):
            yield from tensors(value[:1024], depth - 1)
        elif depth and isinstance(value, dict):
            yield from tensors(list(value.values())[:1024], depth - 1)
