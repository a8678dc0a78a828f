"""From operators being called to rows of a look."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.looking.record import Row, Value
from torchcaliper.run.events import Operation
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.transforms import memory_of, node_of

if TYPE_CHECKING:
    from torchcaliper.run.record import Run

#: rows of one look; an unrolled loop makes more
LONGEST = 20_000


def row_of(event: Operation, run: Run) -> Row:
    """The row of one call; times its node when that runs in backward."""
    place = run.sites[event.site] if event.site is not None else None
    given = tensors_in((event.args, event.kwargs), 6, 3)
    made = tensors_in(event.result, 8, 2)
    row = Row(
        path=place.path if place else "",
        line=place.line if place else 0,
        function=place.function if place else "",
        operator=_name(event),
        inputs=[_value(t) for t in given],
        outputs=[_value(t) for t in made],
        seconds=event.seconds,
    )
    memory = {m: i for i, t in reversed(list(enumerate(given))) if (m := memory_of(t)) is not None}
    fresh: set[int] = set()
    for position, tensor in enumerate(made):
        address = memory_of(tensor)
        source = memory.get(address) if address is not None else None
        kind = "new" if source is None else f"view of input {source}"
        same = next((i for i, t in enumerate(given) if t is tensor), None)
        if same is not None:
            kind = f"input {same}"
        elif kind == "new" and address is not None and address not in fresh:
            fresh.add(address)
            row.bytes += tensor.untyped_storage().nbytes()
        if position == 0:
            row.memory = kind
            node = node_of(tensor)
            if node is not None:
                row.grad_fn = node.name()
                if same is None or event.name.endswith("_"):
                    _time(node, row)
    return row


def _name(event: Operation) -> str:
    if event.property:
        return f".{event.property}" + (" =" if event.name == "__set__" else "")
    return {"__getitem__": "[...]", "__setitem__": "[...] ="}.get(event.name, event.name)


def _value(tensor: torch.Tensor) -> Value:
    strided = tensor.layout is torch.strided
    return Value(
        [int(n) for n in tensor.shape],
        str(tensor.dtype).removeprefix("torch."),
        str(tensor.device),
        [int(n) for n in tensor.stride()] if strided else [],
        tensor.is_contiguous() if strided else True,
    )


def _time(node: Any, row: Row) -> None:
    """Have the time of a node's backward put into its row. The hooks live and die with the graph."""
    begun = [0.0]

    def before(gradients: Any) -> None:
        begun[0] = perf_counter()

    def after(inputs: Any, outputs: Any) -> None:
        row.backward_seconds = (row.backward_seconds or 0.0) + perf_counter() - begun[0]

    node.register_prehook(before)
    node.register_hook(after)
