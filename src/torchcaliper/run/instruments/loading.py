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
        if not (failed or incomplete) or not isinstance(event.state, Mapping):
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
