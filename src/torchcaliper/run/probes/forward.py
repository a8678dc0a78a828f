"""Modules being called: the outermost call of each forward, and in surveyed ones the modules inside."""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._C._dynamo.eval_frame import set_eval_frame

from torchcaliper.run import walk
from torchcaliper.run.events import Forward
from torchcaliper.run.interruption import is_the_programs
from torchcaliper.run.patches import invisible, trim
from torchcaliper.run.unseen import unseen

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def autocast_region() -> tuple[str, str] | None:
    """(device type, dtype) of the autocast region the calling thread is in."""
    for device in _AUTOCAST_DEVICES:
        if torch.is_autocast_enabled(device):
            return device, str(torch.get_autocast_dtype(device)).removeprefix("torch.")
    return None


_AUTOCAST_DEVICES = ("cuda", "cpu") + (("mps",) if torch.backends.mps.is_built() else ())


def install(session: Session) -> None:
    local, objects, patches = session.local, session.objects, session.patches
    original = nn.Module.__call__
    tracing = torch._C._get_tracing_state
    compiling = torch.compiler.is_dynamo_compiling
    with_parameters: dict[int, weakref.ref[nn.Module]] = {}
    surveys, rest = session.surveys, session.rest
    is_grad_enabled = torch.is_grad_enabled
    thread = threading.get_ident

    def begin(module: nn.Module, args: Any, kwargs: Any) -> Forward | None:
        if local.backward or thread() != session.thread or tracing() is not None:
            return None
        known = with_parameters.get(id(module))
        if known is None or known() is not module:
            if not (module._parameters or module._modules) or next(walk.parameters(module), None) is None:
                return None
            with_parameters[id(module)] = weakref.ref(module)
        grad = torch.is_grad_enabled()
        frame = session.sites.user_frame(sys._getframe(2))
        root, number = module, objects.known_root(module)
        if number is None:
            root = objects.unwrap(module)
            if not objects.welcomes_root(root):
                return None
            number = objects.root(root)
        run = session.run
        event = Forward(
            module=module,
            root=root,
            site=session.site(frame),
            frame=frame,
            args=args,
            kwargs=kwargs,
            training=root.training,
            grad=grad,
            inference=torch.is_inference_mode_enabled(),
            autocast=autocast_region(),
            number=run.forwards,
        )
        run.forwards += 1
        if run.forwards & (run.forwards - 1) == 0 and objects.refresh_root(root):
            surveys.again()
        record = run.ledger.roots[number]
        if record.call_site is None:
            record.call_site = event.site
        scripted = isinstance(root, torch.jit.ScriptModule)
        if scripted or root._compiled_call_impl is not None or (root is not module and "_orig_mod" in module._modules):
            session.operators.forbid()
        if grad:
            if surveys.take(number):
                objects.refresh_root(root)
                event.called, event.dtypes = {}, {}
                local.survey = event
            session.training_begins()
        elif session.operators.on:
            session.operators.stop()
        session.emit("forward_begin", event)
        return event

    def end(event: Forward, output: Any, error: BaseException | None) -> None:
        local.survey = local.forward = None
        event.output, event.error = output, error
        if error is not None:
            failed = local.failed
            event.failed = failed[1] if failed is not None and failed[0] == id(error) else event.module
            session.failed("module", error, event.site)
        local.failed = None
        session.emit("forward_end", event)
        event.frame = None

    def is_left_out(module: nn.Module) -> bool:
        caller = sys._getframe(2)
        return rest.covers((id(module), module.training, is_grad_enabled(), id(caller.f_code), caller.f_lasti))

    def failed_at_rest(module: nn.Module, args: Any, kwargs: Any, error: BaseException) -> None:
        try:
            rest.end()
            event = begin(module, args, kwargs)
            if event is not None:
                end(event, None, error)
        except BaseException as own:
            if is_the_programs(own):
                raise
            patches.fault("Module.__call__", own)

    def note(module: nn.Module) -> None:
        local.survey.called.setdefault(id(module), module)
        if not torch.is_grad_enabled():
            local.survey.without_grad.add(id(module))

    def note_output(module: nn.Module, output: Any) -> None:
        if isinstance(output, torch.Tensor) and not module._modules:
            with unseen():
                local.survey.dtypes[id(module)] = output.dtype

    @functools.wraps(original)
    def __call__(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if compiling():  # Dynamo traces this very function: nothing here may depend on our state
            return original(self, *args, **kwargs)
        if local.inside or local.busy:
            # No variable for the survey: this frame may live on in a traceback.
            if local.survey is not None:
                note(self)
            try:
                output = original(self, *args, **kwargs)
            except BaseException as error:
                trim(error)
                if local.inside and (local.failed is None or local.failed[0] != id(error)):
                    local.failed = (id(error), self)
                raise
            if local.survey is not None:
                note_output(self, output)
            return output
        event = failure = None
        left_out = False
        dynamo = set_eval_frame(None)
        try:
            left_out = is_left_out(self)
            if not left_out:
                event = begin(self, args, kwargs)
        except BaseException as error:
            local.survey = None
            if is_the_programs(error):
                raise
            failure = error
        finally:
            set_eval_frame(dynamo)
        if left_out:
            local.inside = 1
            try:
                output = original(self, *args, **kwargs)
            except BaseException as error:
                local.inside = 0
                trim(error)
                failed_at_rest(self, args, kwargs, error)
                raise
            local.inside = 0
            return output
        if event is None:
            try:
                output = original(self, *args, **kwargs)
                if failure is not None:
                    patches.fault("Module.__call__", failure)
                return output
            except BaseException as error:
                trim(error)
                raise
            finally:
                failure = None  # it holds this frame by its traceback
        local.inside = 1
        local.forward = event
        try:
            output = original(self, *args, **kwargs)
        except BaseException as error:
            local.inside = 0
            trim(error)
            try:
                end(event, None, error)
            except BaseException as own:
                if is_the_programs(own):
                    raise
                patches.fault("Module.__call__", own)
            event = None  # traceback -> frames inside -> this frame -> event -> error: a cycle
            raise
        local.inside = 0
        try:
            end(event, output, None)
        except BaseException as error:
            if is_the_programs(error):
                raise
            patches.fault("Module.__call__", error)
        return output

    session.patches.replace(nn.Module, "__call__", invisible(__call__))  # type: ignore[arg-type]
