"""Weights copied between living modules: by load_state_dict, and by loops over parameters that write in place."""

from __future__ import annotations

import ast
import sys
import weakref
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.copy_source import CopyStatement, binding, load_statement, loop_statement, resolve
from torchcaliper.run.instruments.holders import attributes
from torchcaliper.run.instruments.likeness import distance, same_memory, sample, storages, trained, twins
from torchcaliper.run.operators import OperatorWatch
from torchcaliper.run.record import Copy

if TYPE_CHECKING:
    from torchcaliper.run.events import Ended, Forward, StateLoaded, Step
    from torchcaliper.run.session import Session

#: steps (of any optimizer) after which all are looked at for writes until the next forward; afterwards powers of two
_LOOKS = 4
#: entries of a state that are compared with a module's memory
_ENTRIES = 64


class Copies(Instrument):
    """Fills `run.ledger.copies`."""

    name = "copies"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._states: dict[Any, _State] = {}
        self._steps = 0
        self._watch = _Writes(session)
        self._looked: set[Any] = set()  # statements already counted in this look
        self._statements: dict[tuple[int, int], CopyStatement | None] = {}
        self._codes: list[Any] = []  # keeps their ids unique

    # load_state_dict

    def on_load_begin(self, event: StateLoaded) -> None:
        if not isinstance(event.state, Mapping) or event.frame is None:
            return
        held = [
            v.data_ptr() for v in list(event.state.values())[:_ENTRIES] if isinstance(v, torch.Tensor) and v.numel()
        ]
        if not held:
            return
        statement = load_statement(self.session, event.frame)
        target = self.session.objects.unwrap(event.module)
        source = resolve(statement.source, event.frame) if statement is not None else None
        source = self.session.objects.unwrap(source) if isinstance(source, nn.Module) else None
        mine = storages(target)
        if source is None:
            if mine and mine <= set(held):
                source = target
            else:
                source = next(
                    (m for _, m in self.session.objects.roots() if m is not target and storages(m) & set(held)), None
                )
        if source is None or not mine:
            return
        self._copied(target, source, statement, event.frame, event.site, loop=False)

    # loops that write parameters

    def on_step_end(self, event: Step) -> None:
        if event.nested:
            return
        if self._watch.on:
            self._watch.stop()
        self._steps += 1
        if self._steps <= _LOOKS or self._steps & (self._steps - 1) == 0:
            self._looked.clear()
            self._watch.begin()

    def may_rest(self) -> bool:
        return not self._watch.on

    def on_step_passed(self, event: Step) -> None:
        self._steps += 1
        if self._steps & (self._steps - 1) == 0:
            self.session.rest.end()
            self._looked.clear()
            self._watch.begin()

    def on_forward_begin(self, event: Forward) -> None:
        if self._watch.on:
            self._watch.stop()
        if self._states:
            for state in self._states.values():
                if state.source() is event.root:
                    state.called = True

    def on_ended(self, event: Ended) -> None:
        self._watch.stop()

    def on_parameter_write(self, event: tuple[torch.Tensor, FrameType]) -> None:
        tensor, frame = event
        key = (id(frame.f_code), frame.f_lineno or 0)
        if key in self._looked:
            return
        self._looked.add(key)
        if key not in self._statements:
            self._codes.append(frame.f_code)
            self._statements[key] = loop_statement(self.session, frame)
        statement = self._statements[key]
        if statement is None:
            return
        target, source = resolve(statement.target, frame), resolve(statement.source, frame)
        if not isinstance(target, nn.Module) or not isinstance(source, nn.Module):
            return
        target, source = self.session.objects.unwrap(target), self.session.objects.unwrap(source)
        address = tensor.data_ptr()
        if not any(p.data_ptr() == address for p in walk.parameters(target)):
            return
        self._copied(target, source, statement, frame, self.session.site(frame), loop=True)

    # both

    def _copied(
        self,
        target: nn.Module,
        source: nn.Module,
        statement: CopyStatement | None,
        frame: FrameType,
        site: int | None,
        *,
        loop: bool,
    ) -> None:
        objects = self.session.objects
        key = (site, id(target), id(source))
        state = self._states.get(key)
        if state is None or state.target() is not target or state.source() is not source:
            state = self._states[key] = _State(target, source)
            state.record = Copy(
                target=objects.known_root(target),
                source=objects.known_root(source),
                target_name=statement.target_text if statement is not None else "",
                source_name=statement.source_text if statement is not None else "",
                site=site,
                first_step=self.run.steps,
                loop=loop,
            )
            self.run.ledger.copies.append(state.record)
        record = state.record
        record.times += 1
        record.target, record.source = objects.known_root(target), objects.known_root(source)
        if not record.same_storage and same_memory(target, source):
            record.same_storage = True
            if target is not source or record.target_name != record.source_name:
                self._second_name(record, statement, frame, target, source)
        optimizers = trained(self.session, target)
        record.target_trained = bool(optimizers)
        record.source_trained = bool(trained(self.session, source))
        steps = {n: self.run.ledger.optimizers[n].steps for n in optimizers}
        # An optimizer that had stepped before the last copy and has stepped since: training was not restarted.
        if any(state.steps.get(n, 0) and steps[n] > state.steps[n] for n in steps):
            record.after_training += 1
            record.source_called += state.called
        state.steps, state.called = steps, False
        if not record.target_trained and target is source and not record.twin_trained:
            record.twin_trained = any(trained(self.session, twin) for twin in twins(self.session, target))
        if record.target_trained and not record.source_trained:
            self._source_values(state, source)
        if record.same_storage or record.after_training > 1 or record.twin_trained:
            self.session.judge_soon()

    def _source_values(self, state: _State, source: nn.Module) -> None:
        values = sample(walk.parameters(source))
        if state.values is None:
            state.values = values
        elif not state.record.source_changed and all(v.device.type == "cpu" for v in values):
            state.record.source_changed = distance(state.values, values) > 0
        elif not state.record.source_changed and state.record.times & (state.record.times - 1) == 0:
            # On another device the comparison waits for it, so it is made at powers of two only.
            state.record.source_changed = distance(state.values, values) > 0

    def _second_name(
        self, record: Copy, statement: CopyStatement | None, frame: FrameType, target: nn.Module, source: nn.Module
    ) -> None:
        """Where the second name was bound to the memory of the first."""
        if statement is None or statement.target is None or statement.source is None:
            return
        record.alias_names = [statement.target_text, statement.source_text]
        record.alias_site = binding(self.session, frame, [statement.target, statement.source])
        if record.alias_site is None:
            for outer in self.session.sites.user_frames(frame.f_back):
                names = _names(outer, target, source)
                if names is not None:
                    record.alias_site = binding(self.session, outer, names[1])
                    record.alias_names = names[0]
                    break


def _names(frame: FrameType, target: nn.Module, source: nn.Module) -> tuple[list[str], list[Any]] | None:
    """Two different names for the memory of `target` and `source` in one frame, or in the object its method is of."""
    own = locals_of(frame)
    names = [n for n, v in own.items() if v is target or v is source]
    if len(names) == 2:
        return names, [ast.parse(n, mode="eval").body for n in names]
    holder = own.get("self")
    if holder is not None:
        found = [n for n, v in attributes(holder) if v is target or v is source]
        if isinstance(holder, nn.Module):
            found += [n for n, v in holder._modules.items() if v is target or v is source]
        if len(found) == 2:
            texts = [f"self.{n}" for n in found]
            return texts, [ast.parse(t, mode="eval").body for t in texts]
    return None


class _State:
    """What is known of the copies of one statement between two modules."""

    record: Copy

    def __init__(self, target: nn.Module, source: nn.Module) -> None:
        self.target = weakref.ref(target)
        self.source = weakref.ref(source)
        self.steps: dict[int, int] = {}  # optimizer of the target -> its steps at the last copy
        self.called = False  # the source was called since then
        self.values: list[torch.Tensor] | None = None  # of the source at the first copy


class _Writes(OperatorWatch):
    """A look between an optimizer step and the next forward, at writes in place only."""

    def begin(self) -> None:
        """Start, unless looks are forbidden. A look of the step itself may still be on: it is about to end."""
        self._forbidden = self.session.operators._forbidden
        self.start()

    def tell(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        name = getattr(func, "__name__", "")
        if name == "__set__":
            if getattr(getattr(func, "__self__", None), "__name__", "") != "data":
                return
        elif not name.endswith("_") or (name.endswith("__") and not name.startswith("__i")):
            return
        if not args or not isinstance(args[0], torch.Tensor):
            return
        frame = sys._getframe(2)
        if self.session.sites.is_user(frame.f_code.co_filename):
            self.session.emit("parameter_write", (args[0], frame))
