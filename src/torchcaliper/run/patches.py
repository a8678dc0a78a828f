"""Replacing functions of torch by watched ones, and putting them back.

A wrapper must leave no trace: exceptions pass through it without its frame, warnings keep the caller's line, a probe
that raises is switched off and the program goes on.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from torchcaliper.run.callsite import INVISIBLE

#: Tells a probe that a call begins: (args, kwargs) -> event or None
Before = Callable[[tuple[Any, ...], dict[str, Any]], Any]
#: Tells a probe that it ended: (event, result, error)
After = Callable[[Any, Any, BaseException | None], None]
Fault = Callable[[str, BaseException], None]


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
    steps_before = 0  # steps of its optimizer when that began

    def __init__(self) -> None:
        self.stepping: list[Any] = []  # (weak optimizer, id of its frame, event) of the steps running
        self.scheduling: list[Any] = []  # schedulers whose step() is running


def invisible(function: FunctionType) -> FunctionType:
    """The same function, left out when `warnings` looks for the caller's line."""
    function.__code__ = function.__code__.replace(co_filename=INVISIBLE)
    return function


class Patches:
    """The replacements made, in order, so that they can be lifted."""

    def __init__(self, local: Local, fault: Fault) -> None:
        self.local = local
        self._fault = fault
        self._made: list[tuple[Any, str, Any, Any, bool]] = []  # owner, name, original, replacement, was in __dict__
        self._off: set[str] = set()

    def fault(self, name: str, error: BaseException) -> None:
        """Switch a probe off after it failed."""
        if name not in self._off:
            self._off.add(name)
            self._fault(name, error)

    def replace(self, owner: Any, name: str, replacement: Any) -> None:
        """Put `replacement` in the place of `owner.name`. A name that this torch lacks is passed over."""
        if not hasattr(owner, name):
            return
        own = name in vars(owner)
        original = vars(owner)[name] if own else getattr(owner, name)
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
        local, off, fault = self.local, self._off, self.fault
        compiling = _compiling()

        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if compiling():
                return original(*args, **kwargs)
            if local.busy or label in off:
                try:
                    return original(*args, **kwargs)
                except BaseException as error:
                    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
                    raise
            event = None
            try:
                event = before(args, kwargs)
            except Exception as error:
                fault(label, error)
            except BaseException as error:  # Ctrl-C while a probe ran: the program's, without our frames
                error.__traceback__ = None
                raise
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
                if after is not None and event is not None:
                    try:
                        after(event, None, error)
                    except Exception as own:
                        fault(label, own)
                raise
            if after is not None and event is not None:
                try:
                    after(event, result, None)
                except Exception as error:
                    fault(label, error)
                except BaseException as error:
                    error.__traceback__ = None
                    raise
            return result

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

    @contextmanager
    def lifted(self, owners: tuple[Any, ...]) -> Iterator[None]:
        """Take the replacements in `owners` away for a moment (torch.jit.script compiles what it finds there)."""
        mine = [m for m in self._made if any(m[0] is o for o in owners) and vars(m[0]).get(m[1]) is m[3]]
        for owner, name, original, _, _ in mine:
            setattr(owner, name, original)
        try:
            yield
        finally:
            for owner, name, _, replacement, _ in mine:
                setattr(owner, name, replacement)


def _compiling() -> Callable[[], bool]:
    """torch's own test for being traced by Dynamo, which takes it for the constant True."""
    import torch

    return torch.compiler.is_dynamo_compiling
