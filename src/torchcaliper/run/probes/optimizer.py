"""Optimizers being made, stepped and cleared."""

from __future__ import annotations

import inspect
import sys
import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from torchcaliper.run import blame
from torchcaliper.run.events import OptimizerMade, Step, ZeroGrad
from torchcaliper.run.frames import locals_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    _watch_making(session)
    _watch_steps(session)
    _watch_zero_grad(session, Optimizer)
    _watch_zero_grad(session, nn.Module)


def _constructor(optimizer: Any, frame: FrameType | None) -> FrameType | None:
    """The outermost constructor frame of this very optimizer."""
    outermost = None
    while frame is not None and frame.f_code.co_name == "__init__" and locals_of(frame).get("self") is optimizer:
        outermost, frame = frame, frame.f_back
    return outermost


def _given(session: Session, optimizer: Any, constructor: FrameType | None, user: FrameType | None) -> frozenset[str]:
    names = set()
    if constructor is not None:
        try:
            defaults = inspect.signature(type(optimizer).__init__).parameters
        except (TypeError, ValueError):
            defaults = {}  # type: ignore[assignment]
        for name, parameter in defaults.items():
            value = locals_of(constructor).get(name, parameter.default)
            if (
                parameter.default is not inspect.Parameter.empty
                and value is not parameter.default
                and not _same(value, parameter.default)
            ):
                names.add(name)
    if user is not None:
        names |= blame.keywords(session.sites.absolute(user.f_code.co_filename), user.f_lineno or 0)
    return frozenset(names)


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, torch.Tensor) or isinstance(default, torch.Tensor):
        return False
    return bool(value == default)


def _watch_making(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        optimizer = args[0]
        params = args[1] if len(args) > 1 else kwargs.get("params")
        groups: list[Any] = []
        if isinstance(params, list | tuple):
            groups = [g.get("params") for g in params] if params and isinstance(params[0], dict) else [params]
        constructor = _constructor(optimizer, sys._getframe(2))
        frame = session.sites.user_frame(constructor.f_back if constructor is not None else sys._getframe(2))
        return optimizer, groups, frame, _given(session, optimizer, constructor, frame)

    def after(call: Any, result: Any, error: BaseException | None) -> None:
        optimizer, groups, frame, given = call
        if error is not None:
            return
        site = session.site(frame)
        number = session.objects.optimizer(optimizer, site)
        for kind in type(optimizer).__mro__:
            if (
                "zero_grad" in vars(kind)
                and kind is not Optimizer
                and not hasattr(vars(kind)["zero_grad"], "__wrapped__")
            ):
                _watch_zero_grad(session, kind)
        session.surveys.again()
        made = session.run.ledger.optimizers[number].made
        session.emit("optimizer_made", OptimizerMade(optimizer, groups, site, frame, given, made))

    session.patches.around(Optimizer, "__init__", before, after)


def _on_stack(marker: int, frame: FrameType | None) -> bool:
    while frame is not None:
        if id(frame) == marker:
            return True
        frame = frame.f_back
    return False


def _watch_steps(session: Session) -> None:
    local = session.local

    def pre(optimizer: Any, args: Any, kwargs: Any) -> None:
        if local.busy:
            return
        try:
            frame = sys._getframe(1)
            # A step that raised never reached its post hook: forget those whose frame is gone.
            while local.stepping and not _on_stack(local.stepping[-1][1], frame):
                local.stepping.pop()
            event = Step(
                optimizer,
                session.site(frame),
                local.scaler,
                nested=bool(local.stepping),
                first_backward=session.run.backwards,
            )
            local.stepping.append((weakref.ref(optimizer), id(frame), event))
            session.emit("step_begin", event)
        except Exception as error:
            session.patches.fault("Optimizer.step", error)

    def post(optimizer: Any, args: Any, kwargs: Any) -> None:
        if local.busy:
            return
        try:
            event = None
            while local.stepping:
                reference, _, event = local.stepping.pop()
                if reference() is optimizer:
                    break
            if event is not None:
                session.emit("step_end", event)
                session.step_done(event)
        except Exception as error:
            session.patches.fault("Optimizer.step", error)

    handles = [register_optimizer_step_pre_hook(pre), register_optimizer_step_post_hook(post)]  # type: ignore[arg-type]
    session.on_lift(lambda: [h.remove() for h in handles])


def _watch_zero_grad(session: Session, kind: type) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ZeroGrad:
        event = ZeroGrad(args[0], session.site(sys._getframe(2)))
        session.emit("zero_grad_begin", event)
        return event

    def after(event: ZeroGrad, result: Any, error: BaseException | None) -> None:
        session.emit("zero_grad_end", event)

    session.patches.around(kind, "zero_grad", before, after)
