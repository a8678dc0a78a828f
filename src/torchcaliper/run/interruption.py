"""Telling the program's exceptions from ours when they reach us in our own code.

Ctrl-C, and whatever the program's signal handlers raise (timeouts are often made so), arrives wherever the program
happens to be, and that may be in the middle of a probe. Such an exception is none of our failures: it goes on into the
program, as if it had come a moment before or after.
"""

from __future__ import annotations

import os
import signal
from types import CodeType
from typing import Any

_HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def is_the_programs(error: BaseException) -> bool:
    """Whether an exception caught around our own code is the program's; if so, our frames are cut off its traceback."""
    if isinstance(error, Exception):
        handlers = _handlers()
        trace = error.__traceback__ if handlers else None
        while trace is not None and trace.tb_frame.f_code not in handlers:
            trace = trace.tb_next
        if trace is None:
            return False
    else:
        trace = None  # KeyboardInterrupt comes out of no Python function
    BaseException.with_traceback(error, trace)
    context = error.__context__
    while context is not None and _is_from_here(context):
        context = context.__context__
    if context is not error.__context__:
        vars(BaseException)["__context__"].__set__(error, context)
    return True


def _is_from_here(error: BaseException) -> bool:
    """Whether an exception was raised in what our code has called."""
    frame = error.__traceback__.tb_frame if error.__traceback__ is not None else None
    while frame is not None and not frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame is not None


def is_circumstance(error: BaseException) -> bool:
    """Whether our code failed for want of what the program has used up: that says nothing about our code."""
    return isinstance(error, RecursionError | MemoryError)


def message(error: BaseException) -> str:
    """The text of one of the program's exceptions, whose class may have a `__str__` of its own."""
    try:
        return str(error)
    except Exception:
        return ""


def _handlers() -> set[CodeType]:
    codes = set()
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        handler = getattr(handler, "func", handler)  # functools.partial
        for function in (handler, getattr(handler, "__func__", None), vars(type(handler)).get("__call__")):
            code = getattr(function, "__code__", None)
            if isinstance(code, CodeType):
                codes.add(code)
    return codes
