"""Replacing functions of torch by watched ones, and putting them back.

A wrapper must leave no trace: exceptions pass through it without its frame, warnings keep the caller's line, a probe
that raises is switched off and the program goes on.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import torch
from torch._C._dynamo.eval_frame import set_eval_frame
from torch.jit import _builtins

from torchcaliper.run.callsite import INVISIBLE
from torchcaliper.run.interruption import is_circumstance, is_the_programs

#: Tells a probe that a call begins: (args, kwargs) -> event or None
Before = Callable[[tuple[Any, ...], dict[str, Any]], Any]
#: Tells a probe that it ended: (event, result, error)
After = Callable[[Any, Any, BaseException | None], None]
Fault = Callable[[str, BaseException], None]

#: code of our wrappers, as it was written -> as it runs
INVISIBLE_CODES: dict[CodeType, CodeType] = {}


class Local(threading.local):
    """State of the calling thread."""

    busy = False  # our own code runs: probes stay quiet
    inside = 0  # within a module called by the program
    forward: Any = None  # the Forward event of that module
    survey: Any = None  # the same, if it lists the modules called inside
    failed: Any = None  # (id of an exception, module it left first)
    backward = False  # within a backward pass started from this thread
    mode: Any = None  # the ModeSet event of the train() call that is running
    constructing = 0  # schedulers being constructed, one within another
    scaler: Any = None  # the GradScaler whose step() is running
    clipped: Any = None  # what was given to the clipping that is running, where that was an iterator
    steps_before = 0  # steps of its optimizer when that began

    def __init__(self) -> None:
        self.stepping: list[Any] = []  # (weak optimizer, id of its frame, event) of the steps running
        self.scheduling: list[Any] = []  # schedulers whose step() is running


def trim(error: BaseException) -> None:
    """Take the entry of the function that has caught `error` off the head of its traceback.

    Not by assignment, since that asks the exception's class (a frozen dataclass refuses it).
    """
    BaseException.with_traceback(error, error.__traceback__ and error.__traceback__.tb_next)


def invisible(function: FunctionType) -> FunctionType:
    """The same function, left out when `warnings` looks for the caller's line."""
    code = function.__code__
    if code not in INVISIBLE_CODES:
        INVISIBLE_CODES[code] = code.replace(co_filename=INVISIBLE)
    function.__code__ = INVISIBLE_CODES[code]
    return function


class _OnClass:
    """A watched method on a class of the program's own.

    Such classes are sometimes pickled by value (cloudpickle does so with those of `__main__`), and then this is the
    program's own method.
    """

    def __init__(self, watched: Any, original: Any) -> None:
        self._watched, self._original = watched, original
        functools.update_wrapper(self, watched)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self._watched.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._watched(*args, **kwargs)

    def __reduce__(self) -> Any:
        return operator.itemgetter(0), ((self._original,),)


class Patches:
    """The replacements made, in order, so that they can be lifted."""

    def __init__(self, local: Local, fault: Fault) -> None:
        self.local = local
        self._fault = fault
        self._made: list[tuple[Any, str, Any, Any, bool]] = []  # owner, name, original, replacement, was in __dict__
        self._off: set[str] = set()
        # What every wrapper reaches for stands in a class: Dynamo looks at all that a function it traces has in its
        # closure, and takes classes, but no thread-local variables and no methods.
        self._here: Any = type("Here", (), {"local": local, "off": self._off, "fault": staticmethod(self.fault)})

    def fault(self, name: str, error: BaseException) -> None:
        """Switch a probe off after it failed by itself."""
        if not is_circumstance(error) and name not in self._off:
            self._off.add(name)
            self._fault(name, error)

    def replace(self, owner: Any, name: str, replacement: Any) -> None:
        """Put `replacement` in the place of `owner.name`. A name that this torch lacks is passed over."""
        if not hasattr(owner, name):
            return
        own = name in vars(owner)
        original = vars(owner)[name] if own else getattr(owner, name)
        if isinstance(owner, type) and not owner.__module__.startswith("torch."):
            replacement = _OnClass(replacement, original)
        setattr(owner, name, replacement)
        self._made.append((owner, name, original, replacement, own))

    def around(self, owner: Any, name: str, before: Before, after: After | None = None) -> None:
        """Call `before` and `after` around every call of `owner.name` that is not made by ourselves."""
        original = getattr(owner, name, None)
        if original is None:
            return
        label = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"
        self.replace(owner, name, self.wrapper(original, label, before, after))

    def wrapper(self, original: Any, label: str, before: Before, after: After | None) -> Any:
        """A function that behaves as `original` and tells the probe."""
        here, compiling = self._here, _compiling()

        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if compiling():
                return original(*args, **kwargs)
            if here.local.busy or label in here.off:
                try:
                    return original(*args, **kwargs)
                except BaseException as error:
                    trim(error)
                    raise
            event = failure = None
            dynamo = set_eval_frame(None)
            try:
                event = before(args, kwargs)
            except BaseException as error:
                if is_the_programs(error):
                    raise
                failure = error
            finally:
                set_eval_frame(dynamo)
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                trim(error)
                failure = None  # a call that torch itself does not understand
                if after is not None and event is not None:
                    try:
                        after(event, None, error)
                    except BaseException as own:
                        if is_the_programs(own):
                            raise
                        here.fault(label, own)
                event = None  # traceback -> frames inside -> this frame -> event -> error: a cycle
                raise
            if failure is not None:
                here.fault(label, failure)
                failure = None  # it holds this frame by its traceback
            elif after is not None and event is not None:
                try:
                    after(event, result, None)
                except BaseException as error:
                    if is_the_programs(error):
                        raise
                    here.fault(label, error)
            return result

        _show_to_torchscript(watched, original)
        return invisible(watched)  # type: ignore[arg-type]

    def lift(self) -> None:
        """Put everything back that is still ours (somebody may have patched on top)."""
        for owner, name, original, replacement, own in reversed(self._made):
            if vars(owner).get(name) is not replacement:
                continue
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)
        self._made.clear()


def _show_to_torchscript(watched: Any, original: Any) -> None:
    """Have TorchScript compile what it would have found without us."""
    operator_of_its_own = _builtins._find_builtin(original)  # type: ignore[no-untyped-call]
    if operator_of_its_own is not None:
        _builtins._register_builtin(watched, operator_of_its_own)
    elif isinstance(original, FunctionType):
        watched.__prepare_scriptable__ = lambda: original


def _compiling() -> Callable[[], bool]:
    """torch's own test for being traced by Dynamo, which takes it for the constant True."""
    return torch.compiler.is_dynamo_compiling
