"""What compiles or traces a program: no close looks in what it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import fx, nn

from torchcaliper.run.patches import INVISIBLE_CODES

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: what Dynamo has been told to leave alone
_kept_out: set[Any] = set()


def install(session: Session) -> None:
    def forbid(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        session.operators.forbid()
        return True

    def compiled(event: bool, result: Any, error: BaseException | None) -> None:
        _keep_out_of_dynamo()

    for owner in (torch, nn.Module):
        session.patches.around(owner, "compile", forbid, compiled)

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


def _keep_out_of_dynamo() -> None:
    """Have Dynamo run our own functions as they are.

    Between the pieces of a compiled function it would compile what is called there, and that may be ours. Called when
    `torch.compile` has been, and so has imported Dynamo; our wrappers are still looked through in what it traces.
    """
    from torch._dynamo import eval_frame, trace_rules

    if "torchcaliper" not in _kept_out:
        _kept_out.add("torchcaliper")
        trace_rules.add("torchcaliper")
    for code in INVISIBLE_CODES.values():
        if code not in _kept_out:
            _kept_out.add(code)
            eval_frame.skip_code(code)
