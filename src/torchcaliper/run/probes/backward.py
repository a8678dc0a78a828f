"""`Tensor.backward`, `torch.autograd.backward` and `torch.autograd.grad` called by the program."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import Backward, GradCall
from torchcaliper.run.finiteness import is_certainly_bad
from torchcaliper.run.probes.forward import autocast_region

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def _tensors(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, torch.Tensor) else tuple(t for t in value if isinstance(t, torch.Tensor))


def _options(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """retain_graph and create_graph."""
    retain = args[2] if len(args) > 2 else kwargs.get("retain_graph")
    return retain, args[3] if len(args) > 3 else kwargs.get("create_graph", False)


def install(session: Session) -> None:
    local = session.local

    def event_of(tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None) -> Backward:
        frame = session.sites.user_frame(frame)
        retain, create = _options(args, kwargs)
        return Backward(
            tensors=_tensors(tensors),
            site=session.site(frame),
            frame=frame,
            retain_graph=bool(create if retain is None else retain),
            create_graph=bool(create),
            autocast=autocast_region(),
            stepping=local.stepping[-1][0]() if local.stepping else None,
            number=session.run.backwards,
        )

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Backward | tuple[Any, ...] | None:
        if local.backward:
            return None
        tensors = args[0] if args else kwargs.get("tensors", ())
        if not isinstance(tensors, torch.Tensor | tuple | list):
            return None  # an iterator is the program's to consume
        frame = caller = sys._getframe(2)
        if caller.f_back is not None and session.sites.is_torch(caller.f_code.co_filename):
            caller = caller.f_back  # of Tensor.backward
        if session.rest.covers(("backward", id(caller.f_code), caller.f_lasti, *_options(args, kwargs))):
            if not is_certainly_bad(tensors):
                local.backward = True
                return tensors, args, kwargs
            session.rest.end()  # a loss turns non-finite once: the graph that did it is here now, and never again
        if not session.trains_here():
            return None
        event = event_of(tensors, args, kwargs, frame)
        session.run.backwards += 1
        session.emit("backward_begin", event)
        local.backward = True
        return event

    def after(event: Backward | tuple[Any, ...], result: Any, error: BaseException | None) -> None:
        local.backward = False
        if not isinstance(event, Backward):
            if error is None:
                return
            session.rest.end()
            tensors, args, kwargs = event
            event = event_of(tensors, args, kwargs, sys._getframe(2))
        event.error = error
        if error is not None:
            session.failed("backward", error, event.site)
        session.emit("backward_end", event)
        event.frame = None
        if not session.run.ledger.optimizers:
            session.operators.step_ends()
            session.budget.step_ends()
            session.tick(session.run.backwards)

    session.patches.around(torch.autograd, "backward", before, after)

    def before_grad(args: tuple[Any, ...], kwargs: dict[str, Any]) -> GradCall | None:
        caller = sys._getframe(2)
        if (
            local.backward
            or session.sites.is_torch(caller.f_code.co_filename)
            or session.thread != threading.get_ident()
        ):
            return None
        outputs = args[0] if args else kwargs.get("outputs", ())
        if not isinstance(outputs, torch.Tensor | tuple | list):
            return None
        retain = args[3] if len(args) > 3 else kwargs.get("retain_graph")
        create = args[4] if len(args) > 4 else kwargs.get("create_graph", False)
        event = GradCall(_tensors(outputs), session.site(caller), bool(create if retain is None else retain))
        session.emit("grad_begin", event)
        return event

    def after_grad(event: GradCall, result: Any, error: BaseException | None) -> None:
        event.error = error
        if error is not None:
            session.failed("grad", error, event.site)
        session.emit("grad_end", event)

    session.patches.around(torch.autograd, "grad", before_grad, after_grad)
