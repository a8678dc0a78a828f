"""Learning rate schedulers being made and stepped."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch.optim import lr_scheduler

from torchcaliper.run.events import SchedulerMade, SchedulerStep
from torchcaliper.run.frames import locals_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def _classes() -> list[type]:
    base = tuple(
        c for c in (getattr(lr_scheduler, "LRScheduler", None), lr_scheduler.ReduceLROnPlateau) if c is not None
    )
    return [c for c in vars(lr_scheduler).values() if isinstance(c, type) and issubclass(c, base)]


def install(session: Session) -> None:
    for kind in dict.fromkeys(_classes()):
        if "__init__" in vars(kind):
            _watch_making(session, kind)
        if "step" in vars(kind):
            _watch_steps(session, kind)


def _watch_making(session: Session, kind: type) -> None:
    local = session.local

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        outermost = not local.constructing
        local.constructing += 1
        frame: FrameType | None = sys._getframe(2)
        # A class of the user's that derives from one of torch's: its own constructor is not the place meant.
        while frame is not None and frame.f_code.co_name == "__init__" and locals_of(frame).get("self") is args[0]:
            frame = frame.f_back
        return args[0], session.site(frame) if outermost else None, outermost

    def after(call: Any, result: Any, error: BaseException | None) -> None:
        scheduler, site, outermost = call
        local.constructing -= 1
        if error is not None or not outermost:
            return
        for own in type(scheduler).__mro__:
            if "step" in vars(own) and not hasattr(vars(own)["step"], "__wrapped__"):
                _watch_steps(session, own)
        session.emit("scheduler_made", SchedulerMade(scheduler, site))

    session.patches.around(kind, "__init__", before, after)


def _watch_steps(session: Session, kind: type) -> None:
    local = session.local

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> SchedulerStep | None:
        scheduler = args[0]
        if local.constructing or any(s is scheduler for s in local.scheduling):
            return None  # the constructor's own first step, or super().step()
        event = SchedulerStep(
            scheduler, session.site(sys._getframe(2)), args[1:] + tuple(kwargs.values()), inner=bool(local.scheduling)
        )
        session.emit("scheduler_begin", event)
        local.scheduling.append(scheduler)
        return event

    def after(event: SchedulerStep, result: Any, error: BaseException | None) -> None:
        local.scheduling[:] = [s for s in local.scheduling if s is not event.scheduler]
        if error is not None:
            session.failed("scheduler.step", error, event.site)
        session.emit("scheduler_end", event)

    session.patches.around(kind, "step", before, after)
