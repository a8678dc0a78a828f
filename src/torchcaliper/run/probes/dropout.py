"""Functional dropout, and attention with dropout, called by user code while the model is being evaluated."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn import functional as F

from torchcaliper.run.events import DropoutCall
from torchcaliper.run.frames import locals_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_DROPOUTS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout")


def install(session: Session) -> None:
    for name in _DROPOUTS:
        # dropout(input, p=0.5, training=True, inplace=False); alpha_dropout's training is False by default
        _watch(
            session, name, position=1, name_of_p="p", default_p=0.5, training=2, default_training="alpha" not in name
        )
    _watch(session, "scaled_dot_product_attention", 4, "dropout_p", 0.0, training=None, default_training=True)


def _watch(
    session: Session,
    name: str,
    position: int,
    name_of_p: str,
    default_p: float,
    training: int | None,
    default_training: bool,
) -> None:
    local = session.local

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        forward = local.forward
        if session.rest.on or (forward is not None and forward.training):
            return
        p = args[position] if len(args) > position else kwargs.get(name_of_p, default_p)
        explicit = training is not None and (len(args) > training or "training" in kwargs)
        active = default_training
        if explicit and training is not None:
            active = args[training] if len(args) > training else kwargs["training"]
        caller = sys._getframe(2)
        if not p or not active or not session.sites.is_user(caller.f_code.co_filename):
            return
        module = _nearest_module(caller)
        session.emit(
            "dropout", DropoutCall(name, float(p), explicit, training is not None, session.site(caller), module)
        )

    session.patches.around(F, name, before)


def _nearest_module(frame: FrameType | None) -> nn.Module | None:
    while frame is not None:
        names = frame.f_code.co_varnames
        if names and frame.f_code.co_argcount:
            first = locals_of(frame).get(names[0])
            if isinstance(first, nn.Module):
                return first
        frame = frame.f_back
    return None
