"""Gradient clipping."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import clip_grad

from torchcaliper.run.events import Clip
from torchcaliper.run.patches import invisible

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    for function, kind, limit in (("clip_grad_norm_", "norm", "max_norm"), ("clip_grad_value_", "value", "clip_value")):
        _watch(session, function, kind, limit)


def _watch(session: Session, function: str, kind: str, limit: str) -> None:
    original = getattr(clip_grad, function)

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = args[0] if args else kwargs.get("parameters")
        if isinstance(given, torch.Tensor):
            parameters = [given]
        elif isinstance(given, list | tuple):
            parameters = list(given)
        else:
            return None  # a generator must be left to the function: it is told through the listed wrapper below
        bound = args[1] if len(args) > 1 else kwargs.get(limit, float("nan"))
        value = float(bound) if isinstance(bound, int | float) else float("nan")
        session.emit("clip_begin", Clip(parameters, kind, value, session.site(sys._getframe(2))))
        return None

    watched = session.patches.wrapper(original, function, before, None)

    def listed(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(parameters, torch.Tensor | list | tuple):
            parameters = list(parameters)  # what the function itself does first
        try:
            return watched(parameters, *args, **kwargs)
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise

    replacement = invisible(functools.wraps(original)(listed))  # type: ignore[arg-type]
    for owner in (clip_grad, torch.nn.utils):
        if getattr(owner, function, None) is original:
            session.patches.replace(owner, function, replacement)
