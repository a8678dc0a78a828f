"""`Tensor.backward`, `torch.autograd.backward` and `torch.autograd.grad` called by the program."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import Backward, GradCall
from torchcaliper.run.probes.forward import autocast_region

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def _tensors(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, torch.Tensor) else tuple(t for t in value if isinstance(t, torch.Tensor))


def install(session: Session) -> None:
    local = session.local

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Backward | None:
        if local.backward:
            return None
        tensors = args[0] if args else kwargs.get("tensors", ())
        if not isinstance(tensors, torch.Tensor | tuple | list):
            return None  # an iterator is the program's to consume
        if not session.trains_here():
            return None
        frame = session.sites.user_frame(sys._getframe(2))
        retain = args[2] if len(args) > 2 else kwargs.get("retain_graph")
        create = args[3] if len(args) > 3 else kwargs.get("create_graph", False)
        event = Backward(
            tensors=_tensors(tensors),
            site=session.site(frame),
            frame=frame,
            retain_graph=bool(create if retain is None else retain),
            create_graph=bool(create),
            autocast=autocast_region(),
            stepping=local.stepping[-1][0]() if local.stepping else None,
            number=session.run.backwards,
        )
        session.run.backwards += 1
        session.emit("backward_begin", event)
        local.backward = True
        return event

    def after(event: Backward, result: Any, error: BaseException | None) -> None:
        local.backward = False
        event.error = error
        if error is not None:
            session.failed("backward", error, event.site)
        session.emit("backward_end", event)
        event.frame = None
        if not session.run.ledger.optimizers:
            session.operators.stop()
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
