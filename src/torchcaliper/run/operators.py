"""A close look at single operators: which line called which operator on what.

It is on during the first training step and when an instrument has a suspicion, never all the time: a Python call per
operator costs about a microsecond. Where torch.compile or TorchScript is in use it stays off, since a function mode
makes Dynamo compile anew.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from torchcaliper.run.events import Operation

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: operators after which a look ends by itself: a first step of an unrolled loop must not go on for minutes
_LONGEST = 200_000
_PROPERTIES = ("data", "requires_grad", "grad")


class Mode(TorchFunctionMode):
    """Calls the operator and tells the watch of it."""

    def __init__(self, watch: OperatorWatch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise
        watch = self.watch
        if watch.on and not watch.session.local.busy:
            watch.tell(func, args, kwargs, result)
        return result


class OperatorWatch:
    """Pushes a function mode for the length of a look, and takes it out again from wherever it stands on the stack."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.on = False
        self.wanted = True  # the first training step is looked at
        self._mode: Mode | None = None
        self._seen = 0
        self._forbidden = False

    def forbid(self) -> None:
        """No looks from now on (a compiled region is in sight)."""
        self._forbidden = True
        self.stop()

    def start(self) -> None:
        """Begin a look, if one is wanted and none is on."""
        self.wanted = False
        if self.on or self._forbidden or torch._C._get_tracing_state() is not None:
            return
        self._mode = Mode(self)
        self._seen = 0
        torch.overrides._push_mode(self._mode)
        self.on = True

    def stop(self) -> None:
        """End the look."""
        self.on = False
        mode, self._mode = self._mode, None
        if mode is None:
            return
        above = []
        while torch._C._len_torch_function_stack() > 0:
            top = torch._C._pop_torch_function_stack()
            if top is mode:
                break
            above.append(top)
        for other in reversed(above):
            torch._C._push_on_torch_function_stack(other)

    def tell(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        name = getattr(func, "__name__", "")
        attribute = ""
        if name in ("__get__", "__set__"):
            attribute = getattr(getattr(func, "__self__", None), "__name__", "")
            if attribute not in _PROPERTIES or (name == "__get__" and attribute != "data"):
                return
        self._seen += 1
        if self._seen > _LONGEST:
            self.on = False
            return
        session = self.session
        site = session.site(sys._getframe(2))
        session.emit("operation", Operation(func, name, attribute, args, kwargs, result, site, torch.is_grad_enabled()))
