"""Optimizers being made, stepped and cleared."""

from __future__ import annotations

import inspect
import sys
import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._C._dynamo.eval_frame import set_eval_frame
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.hooks import RemovableHandle

from torchcaliper.run import blame
from torchcaliper.run.events import OptimizerMade, Step, ZeroGrad
from torchcaliper.run.frames import locals_of
from torchcaliper.run.interruption import is_the_programs
from torchcaliper.run.patches import invisible

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
    try:
        return bool(value == default)
    except Exception:  # a comparison of the program's own
        return False


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
        if error is not None or not session.objects.welcomes_optimizer(optimizer):
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

    compiling = torch.compiler.is_dynamo_compiling

    def pre(optimizer: Any, args: Any, kwargs: Any) -> None:
        if compiling() or local.busy or not session.objects.welcomes_optimizer(optimizer):
            return
        dynamo = set_eval_frame(None)
        try:
            frame = sys._getframe(1)
            # A step that raised never reached its post hook: forget those whose frame is gone.
            while local.stepping and not _on_stack(local.stepping[-1][1], frame):
                local.stepping.pop()
            caller = frame.f_back or frame  # this one is torch's own
            if session.rest.covers(("step", id(optimizer), id(caller.f_code), caller.f_lasti)):
                local.stepping.append((weakref.ref(optimizer), id(frame), None))
                return
            event = Step(
                optimizer,
                session.site(frame),
                local.scaler,
                nested=bool(local.stepping),
                first_backward=session.run.backwards,
            )
            local.stepping.append((weakref.ref(optimizer), id(frame), event))
            session.emit("step_begin", event)
            event.optimizer = event.scaler = None  # type: ignore[assignment]  # a step that raises is not told
        except BaseException as error:
            if is_the_programs(error):
                raise
            session.patches.fault("Optimizer.step", error)
        finally:
            set_eval_frame(dynamo)

    def post(optimizer: Any, args: Any, kwargs: Any) -> None:
        if compiling() or local.busy or not session.objects.welcomes_optimizer(optimizer):
            return
        dynamo = set_eval_frame(None)
        try:
            event = found = None
            while local.stepping:
                found, _, event = local.stepping.pop()
                if found() is optimizer:
                    break
            if found is not None and event is None:
                session.pass_step(Step(optimizer, None, local.scaler, nested=bool(local.stepping)))
            elif event is not None:
                event.optimizer, event.scaler = optimizer, local.scaler
                session.emit("step_end", event)
                session.step_done(event)
        except BaseException as error:
            if is_the_programs(error):
                raise
            session.patches.fault("Optimizer.step", error)
        finally:
            set_eval_frame(dynamo)

    for register, hook in ((register_optimizer_step_pre_hook, pre), (register_optimizer_step_post_hook, post)):
        handle = register(invisible(hook))  # type: ignore[arg-type]
        _give_number_back(handle)
        session.on_lift(handle.remove)


def _give_number_back(handle: RemovableHandle) -> None:
    """Have the program's own hooks numbered as if this one were not there."""
    hooks = handle.hooks_dict_ref()
    if hooks is not None and RemovableHandle.next_id == handle.id + 1:
        number = -1 - handle.id
        hooks[number] = hooks.pop(handle.id)
        RemovableHandle.next_id = handle.id
        handle.id = number


def _watch_zero_grad(session: Session, kind: type) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ZeroGrad | None:
        if isinstance(args[0], Optimizer) and not session.objects.welcomes_optimizer(args[0]):
            return None
        caller = sys._getframe(2)
        if session.rest.covers(("zero_grad", id(args[0]), id(caller.f_code), caller.f_lasti)):
            return None
        event = ZeroGrad(args[0], session.site(caller))
        session.emit("zero_grad_begin", event)
        return event

    def after(event: ZeroGrad, result: Any, error: BaseException | None) -> None:
        session.emit("zero_grad_end", event)

    session.patches.around(kind, "zero_grad", before, after)
