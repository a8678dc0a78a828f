"""torch.compile and TorchScript: no close looks from then on, and no wrappers where TorchScript compiles."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn import init

from torchcaliper.run.patches import invisible

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        session.operators.forbid()

    session.patches.around(torch, "compile", before)
    session.patches.around(nn.Module, "compile", before)

    original = getattr(torch.jit, "script", None)
    if original is None:
        return

    @functools.wraps(original)
    def script(*args: Any, **kwargs: Any) -> Any:
        # It looks names up in its caller's frame, which is now one further out.
        kwargs["_frames_up"] = kwargs.get("_frames_up", 0) + 1
        with session.patches.lifted((F, init, nn.utils, nn.utils.clip_grad)):
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
                raise

    session.patches.replace(torch.jit, "script", invisible(script))  # type: ignore[arg-type]
