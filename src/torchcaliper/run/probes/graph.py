"""What compiles or traces a program: no close looks in what it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import fx, nn

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def forbid(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        session.operators.forbid()

    for owner in (torch, nn.Module):
        session.patches.around(owner, "compile", forbid)

    def stop(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        session.operators.stop()

    tracers: list[tuple[Any, str]] = [(torch.jit, "trace"), (torch.jit, "trace_module"), (fx.Tracer, "trace")]
    if hasattr(torch, "export"):
        tracers.append((torch.export, "export"))
    proxies = getattr(fx.experimental, "proxy_tensor", None)
    if proxies is not None:
        tracers.append((proxies._MakefxTracer, "trace"))
    for owner, name in tracers:
        session.patches.around(owner, name, stop)
