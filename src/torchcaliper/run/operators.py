"""A close look at single operators: which line called which operator on what.

It is on during the first training step and when an instrument has a suspicion, never all the time: a Python call per
operator costs about a microsecond. Where torch.compile or TorchScript is in use it stays off, since a function mode
makes Dynamo compile anew.
"""

from __future__ import annotations

import sys
import threading
from time import perf_counter  # the function itself: the program may put another in its place
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
import torch.functional
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from torchcaliper.run.events import Operation
from torchcaliper.run.interruption import is_the_programs
from torchcaliper.run.patches import invisible, trim

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
        begin = perf_counter()
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            trim(error)
            raise
        watch = self.watch
        if watch.on and not watch.session.local.busy:
            try:
                watch.seconds = perf_counter() - begin
                watch.tell(func, args, kwargs, result)
            except BaseException as error:
                if is_the_programs(error):
                    raise
                watch.session.patches.fault("look", error)
                watch.on = False
        return result

    invisible(__torch_function__)  # type: ignore[arg-type]


class OperatorWatch:
    """Pushes a function mode for the length of a look, and takes it out again from wherever it stands on the stack."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.on = False
        self.wanted = False  # an instrument asks for a look
        self._mode: Mode | None = None
        self._thread = 0
        self._seen = 0
        self.seconds = 0.0  # that the operator just told took
        self._forbidden = False

    def forbid(self) -> None:
        """No looks from now on (a compiled region is in sight)."""
        self._forbidden = True
        self.stop()

    @property
    def is_due(self) -> bool:
        """Whether the next training step is going to be looked at."""
        return self.wanted and not self._forbidden

    def start(self) -> None:
        """Begin a look, if one is wanted and none is on."""
        self.wanted = False
        if (
            self._mode is not None
            or self._forbidden
            or self._seen > _LONGEST
            or torch._C._get_tracing_state() is not None
        ):
            return
        self._mode, self._thread = Mode(self), threading.get_ident()
        modes = _taken_down()
        # Outside of the program's own modes, which leave in the order they came, but the default device is outermost.
        at = 1 if modes and type(modes[0]).__name__ == "DeviceContext" else 0
        _put_up([*modes[:at], self._mode, *modes[at:]])
        _BLINKERS.put_on()
        self.on = True

    def step_ends(self) -> None:
        """End the look with its step."""
        self.stop()
        self._seen = 0

    def stop(self) -> None:
        """End the look; it may go on in the same step."""
        self.on = False
        mode = self._mode
        if mode is None or self._thread != threading.get_ident():
            return  # each thread has modes of its own
        self._mode = None
        _BLINKERS.take_off()
        _put_up([other for other in _taken_down() if other is not mode])

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
        event = Operation(func, name, attribute, args, kwargs, result, site, torch.is_grad_enabled(), self.seconds)
        session.emit("operation", event)


def _taken_down() -> list[Any]:
    """The function modes of this thread, the outermost first; they are on no longer."""
    modes = [torch._C._pop_torch_function_stack() for _ in range(torch._C._len_torch_function_stack())]
    return modes[::-1]


def _put_up(modes: list[Any]) -> None:
    for mode in modes:
        torch._C._push_on_torch_function_stack(mode)


class _Blinkers:
    """During a look, torch's Python functions do not see that our mode is on.

    They would call themselves once more, through it: with frames more in every traceback, with other lines in
    warnings, and without the fast path of transformers. The mode sees the operators that they call.
    """

    def __init__(self) -> None:
        self._made: list[tuple[ModuleType, str, Any]] = []
        self._looks = 0  # that are on

    def put_on(self) -> None:
        self._looks += 1
        if self._looks > 1:
            return
        for module in (torch.overrides, torch.functional, torch._tensor, torch.autograd, F):
            for name, ours in _TESTS.items():
                original = vars(module).get(name)
                if original is not None and original is getattr(torch._C, f"_{name}", None):
                    setattr(module, name, ours)
                    self._made.append((module, name, original))

    def take_off(self) -> None:
        self._looks -= 1
        if self._looks:
            return
        while self._made:
            module, name, original = self._made.pop()
            setattr(module, name, original)


_BLINKERS = _Blinkers()


def _several(values: Any) -> bool:
    """`torch.overrides.has_torch_function`, apart from a mode of ours."""
    modes = torch._C._len_torch_function_stack()
    if modes > 1 or (modes == 1 and type(torch._C._get_function_stack_at(0)) is not Mode):
        return bool(torch._C._has_torch_function(values))
    if not torch._C._is_torch_function_enabled():
        return False
    off = torch._C._disabled_torch_function_impl
    for value in values:
        kind = type(value)
        if kind is not torch.Tensor and kind is not torch.nn.Parameter:
            function = getattr(kind, "__torch_function__", off)
            if function is not off:
                return True
    return False


def _unary(value: Any) -> bool:
    """`has_torch_function_unary`, likewise."""
    return _several((value,))


def _variadic(*values: Any) -> bool:
    """`has_torch_function_variadic`, likewise."""
    return _several(values)


_TESTS = {
    "has_torch_function": _several,
    "has_torch_function_unary": _unary,
    "has_torch_function_variadic": _variadic,
}
for _test in _TESTS.values():
    # TorchScript compiles what torch's functions name, and knows these tests as operators of its own.
    torch.jit._builtins._register_builtin(_test, "aten::has_torch_function")
