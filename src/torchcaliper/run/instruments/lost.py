"""What was known of the tensor when `backward()` refused it: not a scalar, or nothing to go back through."""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run import blame, walk
from torchcaliper.run.causes.scene import value
from torchcaliper.run.events import Backward, GradCall
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.origins import Origins
from torchcaliper.run.interruption import message
from torchcaliper.run.record import Failure

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
_NO_GRAD = "does not require grad and does not have a grad_fn"
#: ways to write down that parameters are frozen
_FREEZES = ("requires_grad", "requires_grad_")


class LostGraph(Instrument):
    """Fills `details` of failed backward passes."""

    name = "lost"

    def __init__(self, session: Session) -> None:
        super().__init__(session)

    def on_backward_end(self, event: Backward) -> None:
        if event.error is not None:
            self._explain(event.error, event.tensors, event.frame)

    def on_grad_end(self, event: GradCall) -> None:
        if event.error is not None:
            self._explain(event.error, event.outputs, self.session.sites.user_frame(sys._getframe(3)))

    def _explain(self, error: BaseException, tensors: tuple[torch.Tensor, ...], frame: FrameType | None) -> None:
        text = message(error)
        failure = next((f for f in reversed(self.run.failures) if f.message == text), None)
        if failure is None or "cause" in failure.details:
            return
        if _NOT_SCALAR in text:
            tensor = next((t for t in tensors if t.requires_grad and t.numel() != 1), None)
            if tensor is not None:
                self._not_scalar(failure, tensor, frame)
        elif _NO_GRAD in text:
            tensor = next((t for t in tensors if not t.requires_grad), None)
            if tensor is not None:
                self._no_grad(failure, tensor, frame)

    # not a scalar

    def _not_scalar(self, failure: Failure, tensor: torch.Tensor, frame: FrameType | None) -> None:
        details: dict[str, Any] = {"cause": "non-scalar", "shape": list(tensor.shape)}
        name = _receiver(self.session, frame)
        details["name"] = ast.unparse(name) if name is not None else ""
        details["node"] = type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else ""
        details.update(self._made(tensor, name, frame))
        failure.details.update(details)

    def _made(self, tensor: torch.Tensor, name: ast.expr | None, frame: FrameType | None) -> dict[str, Any]:
        origins = self.session.instrument("origins")
        origin = origins.of(tensor) if isinstance(origins, Origins) else None
        if origin is not None and origin.site is not None:
            return {"made_by": origin.name, "made_site": origin.site}
        if isinstance(name, ast.Name) and frame is not None:
            line = frame.f_lineno or 0
            site = blame.assignment(self.session, frame.f_code, name.id, attribute=False, before=line)
            if site is not None:
                return {"made_site": site}
        return {}

    # nothing requires grad

    def _no_grad(self, failure: Failure, tensor: torch.Tensor, frame: FrameType | None) -> None:
        name = _receiver(self.session, frame)
        details: dict[str, Any] = {
            "cause": "no-grad",
            "name": ast.unparse(name) if name is not None else "",
            "grad_enabled": torch.is_grad_enabled(),
            **self._made(tensor, name, frame),
        }
        if not torch.is_grad_enabled() and frame is not None:
            details["guard_site"] = blame.grad_guard(self.session, self.session.sites.user_frames(frame))
        called = [m for _, m in self.session.objects.roots() if next(walk.parameters(m), None) is not None]
        frozen = [m for m in called if not any(p.requires_grad for p in walk.parameters(m))]
        if called and len(frozen) == len(called):
            details["frozen"] = type(frozen[-1]).__name__
            details["frozen_parameters"] = sum(1 for _ in walk.parameters(frozen[-1]))
            details["frozen_site"] = self._frozen_site(frame)
        elif not called:
            details.update(self._plain_leaves(frame))
        failure.details.update(details)

    def _frozen_site(self, frame: FrameType | None) -> int | None:
        """The only statement of the program's file that switches gradients of parameters off."""
        if frame is None:
            return None
        path = self.session.sites.absolute(frame.f_code.co_filename)
        lines = blame.find(path, _freezes)
        return self.session.site_at(path, lines[0], "") if len(set(lines)) == 1 else None

    def _plain_leaves(self, frame: FrameType | None) -> dict[str, Any]:
        """Tensors that the program wants to train (held by an optimizer, or whose `.grad` it reads) without a grad."""
        if frame is None:
            return {}
        wanted: dict[str, ast.expr] = {}
        scope = blame.function_node(frame.f_code, self.session.sites.absolute(frame.f_code.co_filename))
        for node in ast.walk(scope) if scope is not None else ():
            if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.value, ast.Name):
                wanted[node.value.id] = node.value
        held = {id(p) for _, o in self.session.objects.optimizers() for g in o.param_groups for p in g["params"]}
        if held:
            wanted.update({n: ast.Name(n) for n, v in frame.f_globals.items() if id(v) in held})
        for name, expression in wanted.items():
            tensor = value(frame, expression)
            if isinstance(tensor, torch.Tensor) and not tensor.requires_grad:
                site = blame.assignment(self.session, frame.f_code, name, attribute=False)
                return {"leaf": name, "leaf_site": site}
        return {}


def _receiver(session: Session, frame: FrameType | None) -> ast.expr | None:
    """`loss` of `loss.backward()` or of `torch.autograd.grad(loss, ...)` at the frame's line."""
    if frame is None:
        return None
    root = blame.tree(session.sites.absolute(frame.f_code.co_filename))
    line = frame.f_lineno or 0
    for node in ast.walk(root) if root is not None else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            torchs_own = ast.unparse(node.func.value) in ("torch.autograd", "autograd")
            if node.func.attr == "backward" and not torchs_own:
                return node.func.value
            if node.func.attr in ("backward", "grad") and torchs_own and node.args:
                return node.args[0]
    return None


def _freezes(node: ast.AST) -> bool:
    """`x.requires_grad = False`, `x.requires_grad_(False)`."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        off = isinstance(node.value, ast.Constant) and node.value.value is False
        return off and isinstance(target, ast.Attribute) and target.attr in _FREEZES
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FREEZES:
        return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value is False
    return False
