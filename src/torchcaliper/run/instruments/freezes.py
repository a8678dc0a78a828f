"""Freezes that are written down and do not take effect: in a train() that undoes them, in a train() that is never
called, or by an eval() that a later train() of the whole network takes back.
"""

from __future__ import annotations

import ast
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import nn

from torchcaliper.run import blame, walk
from torchcaliper.run.events import Forward, ModeSet
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record import FreezeNote

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: frozen parts remembered; a program that calls eval() on thousands of parts is no case for this
_REMEMBERED = 64


@dataclass(slots=True)
class _Override:
    """A network whose own train() freezes something."""

    module: weakref.ref[nn.Module]
    note: FreezeNote


@dataclass(slots=True)
class _Evaluated:
    """A part that the program put in evaluation mode by itself, all of its parameters frozen."""

    module: weakref.ref[nn.Module]
    site: int | None
    undone_by: int | None = None
    forwards: int = 0
    note: FreezeNote | None = None


class Freezes(Instrument):
    """Train/eval calls against what they were meant to hold."""

    name = "freezes"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._overrides: list[_Override] = []
        self._called: list[weakref.ref[nn.Module]] = []
        self._checked: set[int] = set()
        self._evaluated: dict[int, _Evaluated] = {}
        self._undone: dict[int, tuple[weakref.ref[nn.Module], weakref.ref[nn.Module], int | None]] = {}

    def on_mode_end(self, event: ModeSet) -> None:
        if not event.by_user:
            return
        module = self.session.objects.unwrap(event.module)
        if self.session.objects.known_root(module) is None or self._overrides:
            self._note_called(module)
        if event.training:
            for part, mode, site in event.inner:
                last = [m for p, m, _ in event.inner if p is part][-1]
                if not mode and not last and part.training and part is not module:
                    self._undone[id(part)] = (weakref.ref(part), weakref.ref(module), site)
            self._take_back(module, event.site)
        elif len(self._evaluated) < _REMEMBERED or id(module) in self._evaluated:
            parameters = list(walk.parameters(module))
            if parameters and not any(p.requires_grad for p in parameters) and _keeps_statistics(module):
                self._evaluated[id(module)] = _Evaluated(weakref.ref(module), event.site)

    def _note_called(self, module: nn.Module) -> None:
        if self._overrides:
            inside = {id(m) for m in walk.modules(module)}
            for override in list(self._overrides):
                owner = override.module()
                if owner is not None and id(owner) in inside:
                    self._overrides.remove(override)
                    if override.note in self.run.ledger.freezes:
                        self.run.ledger.freezes.remove(override.note)
        elif len(self._called) < _REMEMBERED:
            self._called.append(weakref.ref(module))

    def _take_back(self, module: nn.Module, site: int | None) -> None:
        """A part that was put in evaluation mode, and is now back in training mode as a part of `module`."""
        for entry in self._evaluated.values():
            part = entry.module()
            if part is None or part is module or not part.training or entry.undone_by is not None:
                continue
            if any(m is part for m in walk.modules(module)):
                entry.undone_by = site

    def on_forward_end(self, event: Forward) -> None:
        if not event.grad or not event.training:
            return
        if self._undone:
            self._judge_undone(event)
        if self._evaluated:
            self._count_taken_back(event)
        if event.called is not None and id(event.root) not in self._checked:
            self._checked.add(id(event.root))
            self._find_overrides(event.root)

    def _judge_undone(self, event: Forward) -> None:
        for key, (part_reference, owner_reference, site) in list(self._undone.items()):
            part, owner = part_reference(), owner_reference()
            if part is None or owner is None:
                del self._undone[key]
                continue
            inside = {id(m) for m in walk.modules(event.root)}
            if id(part) not in inside:
                continue
            del self._undone[key]
            if part.training and (_keeps_statistics(part) or _drops(part)):
                root = self.session.objects.root(event.root)
                self._add(
                    FreezeNote(
                        "undone-in-train", root, _path(event.root, part), site, _count(part), True, type(owner).__name__
                    )
                )

    def _count_taken_back(self, event: Forward) -> None:
        for entry in self._evaluated.values():
            part = entry.module()
            if (
                entry.undone_by is None
                or part is None
                or not part.training
                or part is event.root
                or entry.note is not None
            ):
                continue
            trainable = any(p.requires_grad for p in walk.parameters(part))
            if trainable or not any(m is part for m in walk.modules(event.root)):
                continue
            entry.forwards += 1
            if entry.forwards >= 3:
                root = self.session.objects.root(event.root)
                entry.note = FreezeNote(
                    "undone-by-train", root, _path(event.root, part), entry.site, _count(part), True
                )
                undone = self.run.at(entry.undone_by)
                entry.note.detail = f"{undone.path}:{undone.line}" if undone is not None else ""
                self._add(entry.note)

    def _add(self, note: FreezeNote) -> None:
        if not any((n.kind, n.site) == (note.kind, note.site) for n in self.run.ledger.freezes):
            self.run.ledger.freezes.append(note)

    def _find_overrides(self, root: nn.Module) -> None:
        called = {id(c) for r in self._called if (m := r()) is not None for c in walk.modules(m)}
        for path, module in walk.named_modules(root):
            train = type(module).train
            code = getattr(train, "__code__", None)
            if train is nn.Module.train or code is None or id(module) in called:
                continue
            if not self.session.sites.is_user(code.co_filename):
                continue
            if not {"eval", "requires_grad_", "requires_grad"} & set(code.co_names):
                continue
            line = _freeze_in_train(type(module), module)
            frozen = any(not p.requires_grad for p in walk.parameters(module))
            resting = any(not m.training for m in walk.modules(module))
            if line is None or frozen or resting or not (_keeps_statistics(module) or _drops(module)):
                continue  # in effect by other means, or without consequence
            file, number = line
            name = ".".join(p for p in (type(root).__name__, path) if p)
            note = FreezeNote(
                "train-never-called",
                self.session.objects.root(root),
                name,
                self.session.site_at(file, number, "train"),
                _count(module),
                True,
                type(module).__name__,
            )
            self.run.ledger.freezes.append(note)
            self._overrides.append(_Override(weakref.ref(module), note))


def _keeps_statistics(module: nn.Module) -> bool:
    return any(isinstance(m, nn.modules.batchnorm._BatchNorm) and m.track_running_stats for m in walk.modules(module))


def _drops(module: nn.Module) -> bool:
    return any(isinstance(m, nn.modules.dropout._DropoutNd) and m.p > 0 for m in walk.modules(module))


def _count(module: nn.Module) -> int:
    return sum(1 for _ in walk.parameters(module))


def _path(root: nn.Module, part: nn.Module) -> str:
    name = next((n for n, m in walk.named_modules(root) if m is part), "")
    return ".".join(p for p in (type(root).__name__, name) if p)


def _freeze_in_train(kind: type, module: nn.Module) -> tuple[str, int] | None:
    """File and line of the freeze in a class's own train(), if the conditions around it hold for this module.

    Only conditions of the form `self.name`, `mode` and their conjunctions are understood; with any other there is none.
    """
    owner = next((k for k in kind.__mro__ if "train" in vars(k)), None)
    found = blame.class_node(owner) if owner is not None else None
    if found is None:
        return None
    path, node = found
    method = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "train"), None)
    if method is None:
        return None
    arguments = [a.arg for a in method.args.args]
    return _first_freeze(path, method.body, arguments, module)


def _first_freeze(path: str, body: list[ast.stmt], arguments: list[str], module: nn.Module) -> tuple[str, int] | None:
    for statement in body:
        if isinstance(statement, ast.If):
            holds = _holds(statement.test, arguments, module)
            if holds is None:
                # isinstance tests within a loop over layers choose what is frozen, not whether
                if not any(isinstance(n, ast.Name) and n.id == "isinstance" for n in ast.walk(statement.test)):
                    continue
                holds = True
            inner = _first_freeze(path, statement.body if holds else statement.orelse, arguments, module)
        elif isinstance(statement, ast.For | ast.With):
            inner = _first_freeze(path, statement.body, arguments, module)
        else:
            inner = (path, statement.lineno) if _freezes(statement) else None
        if inner is not None:
            return inner
    return None


def _freezes(statement: ast.stmt) -> bool:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
            if node.func.attr == "eval" and not node.args:
                return True
            off = len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value is False
            if node.func.attr in ("requires_grad_", "train") and off:
                return True
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is False):
            continue
        if any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets):
            return True
    return False


def _holds(test: ast.expr, arguments: list[str], module: nn.Module) -> bool | None:
    """Whether a condition of train(True) holds; None: not known."""
    if isinstance(test, ast.Name) and test.id in arguments:
        return True
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == arguments[0]:
        value = getattr(module, test.attr, None)
        return value if isinstance(value, bool) else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, arguments, module)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_holds(v, arguments, module) for v in test.values]
        if None in parts:
            return None
        return all(parts) if isinstance(test.op, ast.And) else any(parts)
    return None
