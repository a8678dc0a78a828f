"""`train()` and `eval()`."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run.events import ModeSet
from torchcaliper.run.patches import invisible, trim

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    local, sites, patches = session.local, session.sites, session.patches
    original, compiling = nn.Module.train, torch.compiler.is_dynamo_compiling

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ModeSet:
        module = args[0]
        mode = args[1] if len(args) > 1 else kwargs.get("mode", True)
        caller = sys._getframe(3)  # around this function stand the two wrappers of train()
        if caller.f_code.co_name == "eval" and sites.is_torch(caller.f_code.co_filename) and caller.f_back is not None:
            caller = caller.f_back  # Module.eval calls self.train(False)
        frame = sites.user_frame(caller)
        by_user = not sites.is_torch(caller.f_code.co_filename)
        event = ModeSet(module, bool(mode), session.site(frame), frame, by_user)
        session.emit("mode_begin", event)
        local.mode = event
        return event

    def after(event: ModeSet, result: Any, error: BaseException | None) -> None:
        local.mode = None
        session.emit("mode_end", event)
        event.frame = None

    outermost = patches.wrapper(original, "Module.train", before, after)

    @functools.wraps(original)
    def train(self: nn.Module, mode: bool = True) -> Any:
        if compiling():
            return original(self, mode)
        event = local.mode
        if event is None:
            try:
                return outermost(self, mode)
            except BaseException as error:
                trim(error)
                raise
        caller = sys._getframe(1)
        if caller.f_code.co_name == "eval" and caller.f_back is not None and sites.is_torch(caller.f_code.co_filename):
            caller = caller.f_back
        if sites.is_user(caller.f_code.co_filename):
            event.inner.append((self, bool(mode), session.site(caller)))
        try:
            return original(self, mode)
        except BaseException as error:
            trim(error)
            raise

    patches.replace(nn.Module, "train", invisible(train))  # type: ignore[arg-type]
