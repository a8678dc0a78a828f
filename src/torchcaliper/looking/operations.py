"""`torchcaliper.look()`: one call of a function or a model, and its backward, operator by operator."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from torchcaliper.looking.record import Look
from torchcaliper.looking.rows import LONGEST, row_of
from torchcaliper.run.events import Operation
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.instruments.origins import Origins
from torchcaliper.run.record import Program, Run
from torchcaliper.run.session import Session


def look(function: Callable[..., Any], *inputs: Any, backward: bool = True, **options: Any) -> Look:
    """Call `function(*inputs, **options)` and tell what really happens, line by line of your code.

    Per operator: shapes, dtype, strides, what is a view of what, bytes allocated, node of the autograd graph, time on
    the host. Print the result, or take `.rows`, `.to_json()`.

    Where the first result requires grad, its backward is timed as well (the sum of its elements is differentiated)
    unless `backward=False`; gradients of parameters are those of before afterwards. The call itself is a real one: a
    model in training mode draws random numbers and updates its buffers as ever. A compiled function is one operator.
    """
    session = Session(Run(program=Program(cwd=os.getcwd())), lambda run: False, lambda run: None, _say)
    result = Look(getattr(function, "__name__", type(function).__name__), cwd=os.getcwd())
    recorder = _Recorder(session, result)
    origins = Origins(session)
    origins.marking = True
    session.add(origins)
    session.add(recorder)
    begin = perf_counter()
    session.operators.start()
    try:
        output = function(*inputs, **options)
    finally:
        session.operators.stop()
        session.over = True
    result.seconds = perf_counter() - begin
    if backward:
        _backward(output)
    for fault in session.faults:
        result.note = fault.partition("\n")[0]
    return result


class _Recorder(Instrument):
    name = "recorder"

    def __init__(self, session: Session, result: Look) -> None:
        super().__init__(session)
        self._rows = result.rows

    def on_operation(self, event: Operation) -> None:
        if len(self._rows) < LONGEST and not event.name.startswith("_record_function"):
            self._rows.append(row_of(event, self.run))


def _backward(output: Any) -> None:
    """Send the sum of the first differentiable result backward, for the times; no gradient is left behind."""
    from torchcaliper.run.instruments.cuts import leaves

    tensor = next((t for t in tensors_in(output) if t.grad_fn is not None), None)
    if tensor is None:
        return
    reached = [t for t in leaves(tensor)[0] if t.requires_grad]
    if reached:
        gradient = torch.ones_like(tensor)
        torch.autograd.grad([tensor], list({id(t): t for t in reached}.values()), [gradient], True, allow_unused=True)


def _say(text: str, *, minor: bool = False) -> None:
    """There is nobody to be told live."""
