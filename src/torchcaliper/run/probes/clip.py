"""Gradient clipping."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterable
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import clip_grad

from torchcaliper.run.events import Clip
from torchcaliper.run.patches import invisible, trim

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    for function, kind, limit in (("clip_grad_norm_", "norm", "max_norm"), ("clip_grad_value_", "value", "clip_value")):
        _watch(session, function, kind, limit)


def _watch(session: Session, function: str, kind: str, limit: str) -> None:
    local, compiling = session.local, torch.compiler.is_dynamo_compiling
    original = getattr(clip_grad, function)

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = args[0] if args else kwargs.get("parameters")
        if isinstance(given, torch.Tensor):
            parameters = [given]
        elif isinstance(given, list | tuple):
            parameters = list(given)
        elif local.clipped is not None:
            parameters = local.clipped
        else:
            return None
        caller = sys._getframe(2)
        if session.rest.covers(("clip", id(caller.f_code), caller.f_lasti, len(parameters))):
            return None
        bound = args[1] if len(args) > 1 else kwargs.get(limit, float("nan"))
        value = float(bound) if isinstance(bound, int | float) else float("nan")
        event = Clip(parameters, kind, value, session.site(caller))
        session.emit("clip_begin", event)
        return event

    def after(event: Clip, result: Any, error: BaseException | None) -> None:
        event.norm = result
        session.emit("clip_end", event)

    watched = session.patches.wrapper(original, function, before, after)

    @functools.wraps(original)
    def listed(*args: Any, **kwargs: Any) -> Any:
        if compiling():
            return original(*args, **kwargs)
        given = args[0] if args else kwargs.get("parameters")
        if isinstance(given, Iterable) and not isinstance(given, torch.Tensor | list | tuple):
            local.clipped, given = _taken(given)
            if args:
                args = (given, *args[1:])
            else:
                kwargs["parameters"] = given
        try:
            return watched(*args, **kwargs)
        except BaseException as error:
            trim(error)
            raise
        finally:
            local.clipped = None

    listed.__prepare_scriptable__ = lambda: original  # type: ignore[attr-defined]
    replacement = invisible(listed)  # type: ignore[arg-type]
    for owner in (clip_grad, torch.nn.utils):
        if getattr(owner, function, None) is original:
            session.patches.replace(owner, function, replacement)


def _taken(parameters: Any) -> tuple[list[Any] | None, Any]:
    """The parameters, and what the function can be given in their place, as it reads them once."""
    taken: list[Any] = []
    try:
        taken.extend(parameters)
    except BaseException as error:
        trim(error)
        nothing: tuple[Any, ...] = ()
        exhausted: Any = (each for each in nothing)
        next(exhausted, None)
        # Raises the same error again, out of no Python function.
        return None, itertools.chain(taken, iter(functools.partial(exhausted.throw, error), None))
    # The function warns of generators that have nothing in them.
    return taken, (p for p in taken) if isinstance(parameters, GeneratorType) else taken
