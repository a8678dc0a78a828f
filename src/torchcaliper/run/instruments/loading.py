"""States loaded into modules: which keys found no place, and which names they were near to."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import blame
from torchcaliper.run.events import Ended, StateLoaded
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.copy_source import resolve
from torchcaliper.run.record_state import StateLoad

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_MESSAGE = "Error(s) in loading state_dict for"
#: names kept, and names compared by likeness (each with each)
_KEPT, _COMPARED = 12, 64
#: loads recorded
_LOADS = 32
_DEEPEST = 4


class Loading(Instrument):
    """Fills `run.states.loads`."""

    name = "loading"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._known: dict[tuple[int | None, str, bool], StateLoad] = {}

    def on_load_end(self, event: StateLoaded) -> None:
        loads = self.run.states.loads
        failed = event.error is not None and str(event.error).startswith(_MESSAGE)
        result = event.result
        incomplete = bool(getattr(result, "missing_keys", ()) or getattr(result, "unexpected_keys", ()))
        if not isinstance(event.state, Mapping):
            return
        if not (failed or incomplete) or (not failed and not event.result.unexpected_keys):
            self._filtered(event)
            if not (failed or incomplete):
                return
        name = type(event.module).__name__
        key = (event.site, name, failed)
        record = self._known.get(key)
        if record is None:
            if len(loads) >= _LOADS:
                return
            record = self._known[key] = StateLoad(name, event.site, event.strict, failed, step=self.session.step)
            self._compare(record, event)
            record.checked = _is_used(self.session, event.frame)
            if failed:
                record.message = str(event.error)[:2000]
            loads.append(record)
            self.session.judge_soon()
        record.times += 1

    def _filtered(self, event: StateLoaded) -> None:
        """A state from which a comprehension has taken what the module does not know: was anything left?"""
        frame = event.frame
        if frame is None or len(self.run.states.loads) >= _LOADS:
            return
        found = _filter(self.session, frame)
        if found is None:
            return
        line, source = found
        key = (event.site, f"filter of {type(event.module).__name__}", False)
        if key in self._known or not isinstance(source, Mapping):
            return
        own = _entries(event.module)
        if not own or any(name in own for name in source):
            return
        path = self.session.sites.absolute(frame.f_code.co_filename)
        record = StateLoad(type(event.module).__name__, event.site, event.strict, checked=False, times=1)
        record.step = self.session.step
        record.filter_site = self.session.site_at(path, line, frame.f_code.co_name)
        self._fill(record, own, {n: v for n, v in source.items() if isinstance(v, torch.Tensor)})
        self._known[key] = record
        self.run.states.loads.append(record)
        self.session.judge_soon()

    def on_ended(self, event: Ended) -> None:
        text = str(event.error)[:2000] if isinstance(event.error, RuntimeError) else ""
        for record in self.run.states.loads:
            record.uncaught |= record.failed and bool(text) and record.message == text

    def _compare(self, record: StateLoad, event: StateLoaded) -> None:
        own = _entries(event.module)
        state = {n: v for n, v in event.state.items() if isinstance(n, str) and isinstance(v, torch.Tensor)}
        parameters = {n: t for n, t in own.items() if isinstance(t, nn.Parameter)}
        missing = [n for n in parameters if n not in state]
        unexpected = [n for n in state if n not in own]
        told = getattr(event.result, "missing_keys", None)
        if told is not None:  # hooks may have renamed keys
            unknown = set(told)
            missing = [n for n in missing if n in unknown]
            unexpected = [n for n in unexpected if n in set(event.result.unexpected_keys)]
        self._fill(record, own, state, missing, unexpected)

    @staticmethod
    def _fill(
        record: StateLoad,
        own: dict[str, torch.Tensor],
        state: dict[Any, torch.Tensor],
        missing: list[str] | None = None,
        unexpected: list[str] | None = None,
    ) -> None:
        parameters = {n: t for n, t in own.items() if isinstance(t, nn.Parameter)}
        missing = [n for n in parameters if n not in state] if missing is None else missing
        unexpected = [n for n in state if n not in own] if unexpected is None else unexpected
        record.keys, record.loaded = len(parameters), len(parameters) - len(missing)
        record.missing_count, record.unexpected_count = len(missing), len(unexpected)
        record.missing, record.unexpected = missing[:_KEPT], unexpected[:_KEPT]
        record.shapes = [
            [n, _shape(state[n]), _shape(t)] for n, t in own.items() if n in state and state[n].shape != t.shape
        ][:_KEPT]
        record.loaded -= sum(1 for n, _, _ in record.shapes if n in parameters)
        left = {n: parameters[n] for n in missing}
        spare = {n: state[n] for n in unexpected}
        prefix, count = _prefix(spare, left)
        reverse, other = _prefix(left, spare)
        if count >= other:
            record.state_prefix, record.prefix_count = prefix, count
        else:
            record.module_prefix, record.prefix_count = reverse, other
        if not record.prefix_count:
            record.renamed = _renamed(spare, left)


def _filter(session: Session, frame: FrameType) -> tuple[int, Any] | None:
    """`{k: v for k, v in source.items() if k in ...}` above the frame's line: its line, and what `source` holds now."""
    path = session.sites.absolute(frame.f_code.co_filename)
    scope = blame.function_node(frame.f_code, path)
    best: tuple[int, Any] | None = None
    for node in _flowing_in(scope, frame.f_lineno or 0) if scope is not None else ():
        if len(node.generators) != 1:
            continue
        loop = node.generators[0]
        names = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
        items = loop.iter.func if isinstance(loop.iter, ast.Call) else None
        if not isinstance(node.key, ast.Name) or node.key.id not in names:
            continue
        picks = any(_is_membership(test, node.key.id) for whole in loop.ifs for test in ast.walk(whole))
        if picks and isinstance(items, ast.Attribute) and items.attr == "items":
            source = resolve(items.value, frame)
            if isinstance(source, Mapping) and (best is None or node.lineno > best[0]):
                best = (node.lineno, source)
    return best


def _is_membership(test: ast.AST, name: str) -> bool:
    """`name in ...`."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.In)
        and isinstance(test.left, ast.Name)
        and test.left.id == name
    )


def _flowing_in(scope: ast.AST, line: int) -> list[ast.DictComp]:
    """Comprehensions that make what the `load_state_dict` at a line is given, or what that was updated with."""
    arguments: list[ast.AST] = []
    calls = [n for n in ast.walk(scope) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    for call in calls:
        if getattr(call.func, "attr", "") == "load_state_dict" and call.lineno <= line <= (call.end_lineno or line):
            arguments += call.args
    loaded = {n.id for n in arguments if isinstance(n, ast.Name)}
    for call in calls:
        holder = getattr(call.func, "value", None)
        updated = getattr(call.func, "attr", "") == "update" and isinstance(holder, ast.Name) and holder.id in loaded
        if updated and call.lineno <= line:
            arguments += call.args
    named = {n.id for n in arguments if isinstance(n, ast.Name)}
    made = [
        n.value
        for n in ast.walk(scope)
        if isinstance(n, ast.Assign) and n.lineno <= line
        if any(isinstance(t, ast.Name) and t.id in named for t in n.targets)
    ]
    return [n for n in [*made, *arguments] if isinstance(n, ast.DictComp)]


def _entries(module: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and persistent buffers by the names of a state, those that are there twice as well."""
    found: dict[str, torch.Tensor] = {}
    stack: list[tuple[str, nn.Module, int]] = [("", module, 0)]
    while stack:
        prefix, layer, depth = stack.pop()
        for name, tensor in [*layer._parameters.items(), *layer._buffers.items()]:
            if tensor is not None and name not in layer._non_persistent_buffers_set:
                found[prefix + name] = tensor
        if depth < 64:
            stack += [(f"{prefix}{n}.", m, depth + 1) for n, m in reversed(layer._modules.items()) if m is not None]
    return found


def _prefix(longer: Mapping[str, torch.Tensor], shorter: Mapping[str, torch.Tensor]) -> tuple[str, int]:
    """The prefix without which most names of `longer` are names of `shorter`, with equal shapes."""
    counts: dict[str, int] = {}
    for name, tensor in longer.items():
        rest, cut = name, 0
        for _ in range(_DEEPEST):
            dot = rest.find(".")
            if dot < 0:
                break
            cut += dot + 1
            rest = name[cut:]
            other = shorter.get(rest)
            if other is not None and other.shape == tensor.shape:
                counts[name[:cut]] = counts.get(name[:cut], 0) + 1
    best = max(counts, key=lambda p: counts[p], default="")
    return best, counts.get(best, 0)


def _renamed(spare: Mapping[str, torch.Tensor], left: Mapping[str, torch.Tensor]) -> list[list[str]]:
    """Pairs of near names with equal shapes."""
    pairs: list[list[str]] = []
    free = list(spare)[:_COMPARED]
    for name in list(left)[:_COMPARED]:
        fitting = [n for n in free if spare[n].shape == left[name].shape and _last(n) == _last(name)]
        near = difflib.get_close_matches(name, fitting, 1, 0.6)
        if near:
            free.remove(near[0])
            pairs.append([near[0], name])
    return pairs


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _shape(tensor: torch.Tensor) -> str:
    return "x".join(str(n) for n in tensor.shape) or "scalar"


def _is_used(session: Session, frame: FrameType | None) -> bool | None:
    """Whether the program does anything with what the call at the frame's line returned."""
    if frame is None:
        return None
    path = session.sites.absolute(frame.f_code.co_filename)
    scope, root = blame.function_node(frame.f_code, path), blame.tree(path)
    if root is None or scope is None:
        return None
    line = frame.f_lineno or 0
    for node in ast.walk(scope):
        if not isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        call: Any = node.value
        is_call = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "load_state_dict"
        if not is_call or not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node, ast.Expr):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        kept = not all(isinstance(n, ast.Name | ast.Tuple | ast.Store) for t in targets for n in ast.walk(t))
        return kept or any(
            isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names for n in ast.walk(scope)
        )
    return True  # part of a larger expression
