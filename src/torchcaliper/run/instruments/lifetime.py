"""The life of autograd graphs: which survive the step that made them, who holds them, and which go backward again."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import blame, walk
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.graphs import TAG, Tag, Walk, tag_of, tensors
from torchcaliper.run.instruments.holders import VARIABLE, Holding, attributes, graph_holders
from torchcaliper.run.interruption import message
from torchcaliper.run.record import CarriedState, Retained, RetainedBackward

if TYPE_CHECKING:
    from torchcaliper.run.events import Backward, Ended, Forward, Step
    from torchcaliper.run.session import Session

#: outputs of one forward that are tagged
_OUTPUTS = 8
#: nodes visited when a loss is asked for graphs of earlier steps (about 3 us each, in few steps only)
_LOSS_NODES = 4000
#: nodes visited to find where an input's graph comes from
_INPUT_NODES = 64
#: walks that settle a suspicion about an input
_CONFIRMATIONS = 4
#: backwards whose losses are all walked, before only powers of two are
_FIRST = 4
#: how often more a graph must survive where no optimizer steps: then backwards are counted, and several of them may
#: make one update by hand
_NO_OPTIMIZER = 4
#: steps in which tags are reviewed often: an epoch of a few batches must show before its running sum starts anew
_EARLY = 128
#: searches for a holder in one run
_SEARCHES = 16


def _power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


class Lifetime(Instrument):
    """Fills `run.lifetime` but for the memory."""

    name = "lifetime"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._alive: list[weakref.ref[Tag]] = []
        self._review_at = 2 * VARIABLE
        self._searched = 0  # steps alive at the last search
        self._searches = 0
        self._number = 0
        self._clocks: dict[int, int] = {}  # root -> steps of the optimizers that hold parameters of it
        self._unowned: dict[
            int, int
        ] = {}  # root that no optimizer holds -> number of optimizers when that was looked up
        self._roots_of: dict[int, _Held] = {}  # by optimizer
        self._entered: dict[tuple[int | None, str], int] = {}  # (root, position) -> number of the tag that last came in
        self._suspects: dict[tuple[int | None, str, int | None], _Suspect] = {}
        self._pending: list[_Suspect] = []  # since the last backward
        self._last_forward: tuple[int, int | None] | None = None
        self._retained: dict[Any, Retained] = {}
        self._holding: list[Retained] = []  # those found by the last search
        self._retain_sites: dict[int | None, RetainedBackward] = {}
        self._last_retain: RetainedBackward | None = None
        self._carried: dict[Any, CarriedState] = {}
        self._walk_next = False
        self._first_walk: tuple[int, int] | None = None  # (step, nodes)

    # making and ageing

    def _tag(self, tensor: torch.Tensor, root: int | None, site: int | None, forward: bool, training: bool) -> None:
        node = tensor.grad_fn
        if node is None:
            return
        metadata: Any = node.metadata  # a property, whatever the stubs say
        known = metadata.get(TAG)
        if known is not None:
            known.forward &= forward  # a module's own output that goes backward is a loss
            return
        self._number += 1
        run = self.run
        clock = self._clock(root) if root is not None else 0
        tag = Tag(self._number, run.steps, run.backwards, root, site, forward, clock, training)
        metadata[TAG] = tag
        self._alive.append(weakref.ref(tag))

    def _clock(self, root: int) -> int:
        """Steps of the optimizers that hold parameters of a root; 0 as long as none does."""
        clock = self._clocks.get(root)
        if clock is not None:
            return clock
        optimizers = len(self.run.ledger.optimizers)
        if self._unowned.get(root) != optimizers:
            self._unowned[root] = optimizers
            module = self.session.objects.module(root)
            mine = {id(p) for p in walk.parameters(module)} if module is not None else set()
            for _, optimizer in self.session.objects.optimizers():
                if any(id(p) in mine for group in optimizer.param_groups for p in group["params"]):
                    self._clocks[root] = 0
        return 0

    def _old(self, tag: Tag, by: int = 1) -> bool:
        """The graph is of an earlier step of the very parameters it was made with: nobody can use it any more."""
        run = self.run
        if tag.forward and tag.root in self._clocks:
            return self._clocks[tag.root] - tag.clock >= by and run.steps - tag.step >= by
        if run.steps:
            return run.steps - tag.step >= by
        return run.backwards - tag.backwards > by

    def _age(self, tag: Tag) -> int:
        return tag.step if self.run.steps else tag.backwards

    def on_step_end(self, event: Step) -> None:
        if event.nested:
            return
        number = self.session.objects.optimizer(event.optimizer)
        known = self._roots_of.get(number)
        if known is None:
            known = self._roots_of[number] = _Held()
        known.steps = steps = known.steps + 1
        if known.roots != len(self.run.ledger.roots) or steps & (steps - 1) == 0:
            known.roots = len(self.run.ledger.roots)
            held = {id(p) for group in event.optimizer.param_groups for p in group["params"]}
            roots = self.session.objects.roots()
            known.mine = [i for i, m in roots if any(id(p) in held for p in walk.parameters(m))]
        clocks = self._clocks
        for root in known.mine:
            clocks[root] = clocks.get(root, 0) + 1
        if len(self._alive) >= self._review_at:
            self._review()

    # graphs that stay alive

    def _review(self) -> None:
        self._alive = [r for r in self._alive if r() is not None]
        least = 2 * VARIABLE if self.run.steps < _EARLY else 8 * VARIABLE
        self._review_at = max(least, 2 * len(self._alive))
        old = [t for r in self._alive if (t := r()) is not None and self._old(t)]
        steps = len({self._age(t) for t in old})
        for record in self._holding:
            record.graphs = max(record.graphs, steps)
        least = VARIABLE if self.run.steps else VARIABLE * _NO_OPTIMIZER
        if steps >= least:
            self._review_at = min(self._review_at, len(self._alive) + max(2 * VARIABLE, len(self._alive) // 8))
        if steps < least or steps < 2 * self._searched or self._searches >= _SEARCHES:
            return
        self._searched = steps
        self._searches += 1
        self._holding = [
            self._retain(holding, steps) for holding in graph_holders(self.session, self._old, self._age, least)
        ]
        self._walk_next = True

    def _retain(self, holding: Holding, graphs: int, failed: bool = False) -> Retained:
        key = holding.site if holding.site is not None else holding.path
        record = self._retained.get(key)
        if record is None:
            first = min(holding.tags, key=lambda t: t.number)
            roots = {t.root for t in holding.tags}
            trained = [t for t in holding.tags if not t.forward or t.training]
            record = Retained(
                holder=holding.path,
                kind=holding.kind,
                site=holding.site if holding.site is not None else first.site,
                growing=holding.site is not None,
                root=roots.pop() if len(roots) == 1 else None,
                after_backward=bool(trained),
                first_step=first.step,
            )
            self._retained[key] = record
            self.run.lifetime.retained.append(record)
        record.items = max(record.items, holding.items)
        record.graphs = max(record.graphs, graphs)
        record.failed |= failed
        self.session.judge_soon()
        return record

    # forwards: what comes in and what goes out

    def on_forward_begin(self, event: Forward) -> None:
        if not event.grad:
            return
        for position, value in enumerate(event.args):
            # Nearly every input is data, which has no graph: out quickly.
            if not (isinstance(value, torch.Tensor) and value.grad_fn is None):
                self._enter(event, str(position), value, 2)
        for name, value in event.kwargs.items():
            self._enter(event, name, value, 2)

    def _enter(self, event: Forward, position: str, value: Any, depth: int) -> None:
        if isinstance(value, torch.Tensor):
            if value.grad_fn is not None:
                self._came_in(event, position, value)
        elif depth and isinstance(value, tuple | list):
            for item in value[:8]:
                self._enter(event, position, item, depth - 1)

    def _came_in(self, event: Forward, position: str, tensor: torch.Tensor) -> None:
        root = self.session.objects.known_root(event.root)
        tag = tag_of(tensor)
        if tag is None and (
            _power_of_two(event.number) or event.number < 2 * _FIRST or (root, position, event.site) in self._suspects
        ):
            found = Walk((tensor,), _INPUT_NODES).tags
            tag = found[max(found)] if found else None
        if tag is None:
            return
        before = self._entered.get((root, position))
        self._entered[root, position] = tag.number
        same_root = tag.root == root and self.run.backwards > tag.backwards
        if not (self._old(tag) or (not self.run.steps and same_root)):
            return
        key = (root, position, event.site)
        suspect = self._suspects.get(key)
        if suspect is None:
            name = _name_of(tensor, position, event)
            suspect = self._suspects[key] = _Suspect(CarriedState(root, name, event.site, first_step=self.run.steps))
        record = suspect.record
        record.times += 1
        suspect.made_site = tag.site
        if before != tag.number:
            record.distinct += 1
        if suspect not in self._pending:
            self._pending.append(suspect)

    def on_forward_end(self, event: Forward) -> None:
        if not event.grad or event.error is not None:
            return
        output = event.output
        root = self.session.objects.known_root(event.root)
        if root is not None:
            self._last_forward = (root, event.site)
        if isinstance(output, torch.Tensor):
            self._tag(output, root, event.site, True, event.training)
            return
        for count, tensor in enumerate(tensors(output)):
            if count >= _OUTPUTS:
                break
            self._tag(tensor, root, event.site, True, event.training)

    # backwards

    def on_backward_begin(self, event: Backward) -> None:
        number, run = event.number, self.run
        retain = None
        if event.retain_graph and not event.create_graph:
            retain = self._retain_sites.get(event.site)
            if retain is None:
                retain = self._retain_sites[event.site] = RetainedBackward(event.site, first_step=run.steps)
                run.lifetime.retain_graph.append(retain)
            retain.times += 1
        wanted = any(0 <= s.walks < _CONFIRMATIONS for s in self._pending) or (self._pending and _power_of_two(number))
        # A history of two steps shows at a power of two if the graph of two backwards before was marked.
        marks = number < _FIRST or _power_of_two(number + 2)
        if wanted or marks or self._walk_next or _power_of_two(number):
            mark = self._mark(event) if marks else None
            self._walk_next = False
            self._look_back(event, Walk(event.tensors, _LOSS_NODES, mark), retain)
        for tensor in event.tensors:
            self._tag(tensor, None, event.site, False, True)
        if retain is not None:
            self._last_retain = retain

    def _mark(self, event: Backward) -> Tag:
        self._number += 1
        run = self.run
        root, site = self._last_forward or (None, event.site)
        clock = self._clock(root) if root is not None else 0
        return Tag(self._number, run.steps, run.backwards, root, site, True, clock, True)

    def _look_back(self, event: Backward, walk: Walk, retain: RetainedBackward | None) -> None:
        """Does this loss reach graphs of earlier steps, and through what?"""
        run = self.run
        if self._first_walk is None:
            self._first_walk = (run.steps, walk.nodes)
        earlier = [t for t in walk.tags.values() if self._old(t, 2)]
        for suspect in self._pending:
            suspect.walks += 1
            if earlier and suspect.record.times > 1:
                self._confirm(suspect.record, walk)
        for holder in self._holding:
            holder.in_loss = bool(holder.in_loss or earlier)
        if not earlier:
            return
        if not self._pending:
            state = self._attribute_state(event, 2)
            if state is not None:
                state.times += 1
                state.distinct += 1
                self._confirm(state, walk)
                return
        retain = retain or self._last_retain
        if retain is not None:
            retain.across_steps += 1
            self._walk_next = retain.across_steps < _CONFIRMATIONS
            still = [s for s in self._pending if s.record.distinct <= 1 < s.record.times]
            if still:
                retain.holder, retain.made_site = still[0].record.argument, still[0].made_site
            elif retain.across_steps in (1, 4) and not self._pending:
                held = graph_holders(self.session, self._old, self._age, 2)
                if held:
                    retain.holder, retain.holder_site = held[0].path, held[0].site
            self.session.judge_soon()

    def _confirm(self, record: CarriedState, walk: Walk) -> None:
        if self._first_walk is not None and not record.confirmed:
            record.step_first, record.nodes_first = self._first_walk
        record.confirmed += 1
        record.step_last, record.nodes_last = self.run.steps, walk.nodes
        self._record_carried(record)

    def _record_carried(self, record: CarriedState) -> None:
        if all(record is not r for r in self.run.lifetime.carried):
            self.run.lifetime.carried.append(record)
        self.session.judge_soon()

    def _attribute_state(self, event: Backward, by: int) -> CarriedState | None:
        """An attribute of the last forward's module whose graph goes back to earlier steps."""
        if self._last_forward is None:
            return None
        root, forward_site = self._last_forward
        module = self.session.objects.module(root)
        if module is None:
            return None
        for layer in walk.modules(module):
            for name, value in attributes(layer):
                held = [t for t in tensors(value, 2) if t.grad_fn is not None and not isinstance(t, nn.Parameter)]
                if not held:
                    continue
                reached = Walk(held, _LOSS_NODES).tags.values()
                if any(self._old(t, by) or (not self.run.steps and t.backwards < event.number) for t in reached):
                    key = (id(type(layer)), name)
                    if key not in self._carried:
                        site = blame.rebinding(self.session, type(layer), name)
                        self._carried[key] = CarriedState(
                            root, f"self.{name}", forward_site if site is None else site, first_step=self.run.steps
                        )
                    return self._carried[key]
        return None

    def on_backward_end(self, event: Backward) -> None:
        error = event.error
        if error is not None and "backward through the graph a second time" in message(error):
            self._explain(event)
        self._pending.clear()
        if not self.run.steps and len(self._alive) >= self._review_at:  # updates by hand, or the first step's batches
            self._review()

    def _explain(self, event: Backward) -> None:
        """torch met a graph that an earlier backward had freed: through what did this loss reach it?"""
        carried = [s.record for s in self._pending if s.record.distinct]
        if not carried and not self._pending:
            state = self._attribute_state(event, 1)
            carried = [state] if state is not None else []
        if carried:
            carried[0].failed = True
            carried[0].times = max(1, carried[0].times)
            self._record_carried(carried[0])
            return
        if self._pending:
            return
        step = self.run.steps

        def freed(tag: Tag) -> bool:
            return self._old(tag) or (not step and tag.backwards < event.number)

        for holding in graph_holders(self.session, freed, self._age, 1):
            if holding.kind != "variable" or holding.site is None:
                continue
            if any(not t.forward for t in holding.tags):
                self._retain(holding, len(holding.tags), failed=True)
            else:
                record = CarriedState(None, holding.path, holding.site, 1, 1, first_step=step, failed=True)
                self._record_carried(record)
            return

    def on_ended(self, event: Ended) -> None:
        self._review_at = 1 << 60
        self._alive.clear()


class _Held:
    """The roots whose parameters an optimizer holds."""

    __slots__ = ("mine", "roots", "steps")

    def __init__(self) -> None:
        self.steps = 0
        self.roots = -1  # how many roots there were when that was looked up
        self.mine: list[int] = []


class _Suspect:
    """An input that carried an old graph; whether the loss goes back through it is found by walking."""

    __slots__ = ("made_site", "record", "walks")

    def __init__(self, record: CarriedState) -> None:
        self.record = record
        self.walks = 0
        self.made_site: int | None = None


def _name_of(tensor: torch.Tensor, position: str, event: Forward) -> str:
    """What the caller calls an input, else what the module's forward does."""
    if event.frame is not None:
        for name, value in locals_of(event.frame).items():
            if value is tensor or (isinstance(value, tuple | list) and any(v is tensor for v in value[:8])):
                return name
        owner = locals_of(event.frame).get("self")
        for name, value in attributes(owner) if owner is not None else ():
            if value is tensor or (isinstance(value, tuple | list) and any(v is tensor for v in value[:8])):
                return f"self.{name}"
    if not position.isdigit():
        return position
    code = getattr(type(event.root).forward, "__code__", None)
    index = int(position) + 1
    return code.co_varnames[index] if code is not None and index < code.co_argcount else f"argument {position}"
