"""`.grad` read on tensors that are no leaves: which tensor it was, and which statement made it one."""

from __future__ import annotations

import ast
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import blame
from torchcaliper.run.events import WarningShown
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record import NonLeafRead

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_WARNING = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"
_MOST = 32


class NonLeaf(Instrument):
    """Keeps `run.non_leaf_reads`."""

    name = "nonleaf"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._seen: dict[int, NonLeafRead] = {}

    def on_warning(self, event: WarningShown) -> None:
        if not event.message.startswith(_WARNING) or event.site is None:
            return
        sites = self.session.sites
        place = self.run.sites[event.site]
        if not sites.is_user(event.path) or sites.absolute(event.path) != place.path:
            return  # a library looked at it
        read = self._seen.get(event.site)
        if read is None:
            if len(self._seen) >= _MOST:
                return
            read = NonLeafRead("", event.site, first_step=self.run.steps)
            frame = next(iter(self.session.user_frames()), None)
            if frame is not None:
                self._explain(read, frame, place.path)
            self._seen[event.site] = read
            self.run.non_leaf_reads.append(read)
        read.times += 1

    def _explain(self, read: NonLeafRead, frame: FrameType, path: str) -> None:
        names = locals_of(frame)
        for node in _reads(path, frame.f_lineno):
            tensor, owner = _value(node.value, names, frame.f_globals)
            if not isinstance(tensor, torch.Tensor) or tensor.is_leaf or tensor.retains_grad:
                continue
            read.expression = ast.unparse(node.value)
            read.made_by = tensor.grad_fn.name() if tensor.grad_fn is not None else ""
            if isinstance(node.value, ast.Name):
                name = node.value.id
                read.made_site = blame.assignment(
                    self.session, frame.f_code, name, attribute=False, before=frame.f_lineno
                )
            elif isinstance(node.value, ast.Attribute) and owner is not None:
                read.made_site = blame.assignment(self.session, type(owner), node.value.attr, attribute=True)
            if read.made_site is not None:
                made = self.run.sites[read.made_site]
                read.lost_leaf = _loses_leaf(made.path, made.line)
            return


def _reads(path: str, line: int) -> list[ast.Attribute]:
    first, last = blame.statement(path, line)
    root = blame.tree(path)
    if root is None:
        return []
    return [
        n for n in ast.walk(root) if isinstance(n, ast.Attribute) and n.attr == "grad" and first <= n.lineno <= last
    ]


def _value(node: ast.expr, names: dict[str, Any], globals_: dict[str, Any]) -> tuple[Any, Any]:
    """The object a simple expression names, and the object whose attribute it is; nothing of the program's runs."""
    if isinstance(node, ast.Name):
        return names.get(node.id, globals_.get(node.id)), None
    if isinstance(node, ast.Attribute):
        owner, _ = _value(node.value, names, globals_)
        held = getattr(owner, "__dict__", None)
        if isinstance(held, dict) and node.attr in held:
            return held[node.attr], owner
        if isinstance(owner, nn.Module):
            return owner._parameters.get(node.attr, owner._buffers.get(node.attr, owner._modules.get(node.attr))), owner
        return None, None
    if isinstance(node, ast.Subscript):
        holder, _ = _value(node.value, names, globals_)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else _value(node.slice, names, globals_)[0]
        try:
            if type(holder) in (list, tuple, dict) and type(key) in (str, int):
                return holder[key], None
        except (LookupError, TypeError):
            pass
    return None, None


def _loses_leaf(path: str, line: int) -> bool:
    """Whether the statement makes a leaf that requires grad and binds something computed from it."""
    root = blame.tree(path)
    for node in ast.walk(root) if root is not None else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno == line and node.value is not None:
            return not _is_leaf(node.value) and any(_is_leaf(n) for n in ast.walk(node.value))
    return False


def _is_leaf(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    asked = any(
        k.arg == "requires_grad" and isinstance(k.value, ast.Constant) and k.value.value is True for k in node.keywords
    )
    return asked or name in ("Parameter", "requires_grad_")
