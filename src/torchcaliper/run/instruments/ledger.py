"""The ledger: which parameters there are, who holds them, whether a gradient ever reached them.

All parameters are looked at after the first backward passes (of the run, and of each new network or optimizer) and
then at powers of two; those that had no gradient yet are asked in turn after every one, so that a branch which is
taken rarely is seen.
"""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import blame, walk
from torchcaliper.run.events import Backward, Forward, OptimizerMade, StateLoaded, Step
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.samples import Sample
from torchcaliper.run.record import ParameterGroup

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: backward passes in a row that are looked at when something new appears
_FRESH = 8
#: how often something new may start another row (a program that makes an optimizer per task)
_RENEWALS = 32
#: parameters without gradient asked after each backward that is not looked at
_ASKED = 32
#: backward passes before a part without gradient is worth finding its line
_SETTLED = 8


class Ledger(Instrument):
    """Parameters, roots and optimizers."""

    name = "ledger"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._backwards = 0
        self._look_until = _FRESH
        self._next_look = 2 * _FRESH
        self._renewals = 0
        self._sizes: dict[int, list[int]] = {}  # optimizer -> sizes of its groups when last taken
        self._frozen: dict[int, tuple[weakref.ref[torch.Tensor], list[int]]] = {}
        self._owned: set[int] = set()  # parameters that a module held when an optimizer took them
        self._waiting: list[int] = []
        self._cursor = 0
        self._samples: dict[int, Sample] = {}
        self._training: set[int] = set()
        self._differentiated: set[int] = set()
        self._dirty = False
        self._reached: dict[int, set[int]] = {}  # optimizer -> its parameters that had a gradient since it was made

    # optimizers

    def on_optimizer_made(self, event: OptimizerMade) -> None:
        number = self.session.objects.optimizer(event.optimizer, event.site)
        record = self.run.ledger.optimizers[number]
        record.made, record.site = event.serial, event.site
        default = _number(event.optimizer.defaults.get("weight_decay"))
        record.decay_given = "weight_decay" in event.given or any(
            _number(g.get("weight_decay")) != default for g in event.optimizer.param_groups
        )
        names = locals_of(event.frame) if event.frame is not None else {}
        self._take_groups(number, event.optimizer, event.frame, names)
        self._note_owners(number, event.frame, names)
        self._renew()

    def on_step_end(self, event: Step) -> None:
        number = self.session.objects.known_optimizer(event.optimizer)
        if number is None:
            number = self.session.objects.optimizer(event.optimizer)
        known = self._sizes.get(number)
        if known is None or len(known) != len(event.optimizer.param_groups):
            self._take_groups(number, event.optimizer, None, {})
            self._renew()

    def _take_groups(self, number: int, optimizer: Any, frame: FrameType | None, names: dict[str, Any]) -> None:
        objects, record = self.session.objects, self.run.ledger.optimizers[number]
        groups = optimizer.param_groups
        sites = [g.site for g in record.groups]
        record.groups = []
        for i, group in enumerate(groups):
            numbers = []
            for parameter in group["params"]:
                index = objects.parameter(parameter)
                numbers.append(index)
                holders = self.run.ledger.parameters[index].optimizers
                if number not in holders:
                    holders.append(number)
            site = sites[i] if i < len(sites) else record.site
            if frame is not None:
                site = self._list_site(frame, names, group["params"], record.site)
            record.groups.append(
                ParameterGroup(numbers, _number(group.get("lr")), _number(group.get("weight_decay")), site)
            )
        self._sizes[number] = [len(g["params"]) for g in groups]

    def _list_site(
        self, frame: FrameType, names: dict[str, Any], parameters: list[torch.Tensor], default: int | None
    ) -> int | None:
        """The statement that made a group's list: the local that holds the same parameters, else the groups' list."""
        wanted = [id(p) for p in parameters]
        chosen = None
        for name, value in names.items():
            if type(value) not in (list, tuple) or not value:
                continue
            if [id(p) for p in value] == wanted:
                chosen = name
                break
            if any(isinstance(g, dict) and [id(p) for p in g.get("params", ())] == wanted for g in value):
                chosen = name
        if chosen is None:
            return default
        site = blame.assignment(self.session, frame.f_code, chosen, attribute=False, before=frame.f_lineno)
        return default if site is None else site

    def _note_owners(self, number: int, frame: FrameType | None, names: dict[str, Any]) -> None:
        """Which of the program's parameters are frozen now, and which the optimizer took from a module."""
        mine = {i for g in self.run.ledger.optimizers[number].groups for i in g.parameters}
        objects = self.session.objects
        layers = {id(m): m for m, _ in objects.made_modules()}
        for _, root in objects.roots():
            layers.update((id(m), m) for m in walk.modules(root))
        for module in _modules_in(frame, names):
            layers.update((id(m), m) for m in walk.modules(module))
        for layer in layers.values():
            for parameter in layer._parameters.values():
                if parameter is None:
                    continue
                index = objects.known_parameter(parameter)
                if index is not None and index in mine:
                    self._owned.add(index)
                if not parameter.requires_grad:
                    entry = self._frozen.get(id(parameter))
                    if entry is None or entry[0]() is not parameter:
                        entry = self._frozen[id(parameter)] = (weakref.ref(parameter), [])
                    entry[1].append(number)

    def _renew(self) -> None:
        if self._renewals < _RENEWALS:
            self._renewals += 1
            self._look_until = max(self._look_until, self._backwards + _FRESH)

    # forwards

    def on_forward_end(self, event: Forward) -> None:
        objects = self.session.objects
        number = objects.known_root(event.root)
        if number is None:
            number = objects.root(event.root)
            if self.run.ledger.roots[number].parameters:
                self._renew()
        record = self.run.ledger.roots[number]
        if record.call_site is None:
            record.call_site = event.site
        if event.grad:
            record.training_forwards += 1
            if event.training:
                self._training.add(number)
        else:
            record.other_forwards += 1
        if event.called is None:
            return
        for layer in (event.root, *event.called.values()):
            for parameter in layer._parameters.values():
                if parameter is not None and (index := objects.known_parameter(parameter)) is not None:
                    known = self.run.ledger.parameters[index]
                    if event.grad and id(layer) not in event.without_grad:
                        known.called = True
                    else:
                        known.called_without_grad = True
        if any(isinstance(a, torch.Tensor) and a.requires_grad and a.is_leaf for a in event.args):
            self._differentiated.add(number)

    def on_load_end(self, event: StateLoaded) -> None:
        for parameter in walk.parameters(event.module):
            self.run.ledger.parameters[self.session.objects.parameter(parameter)].loaded = True

    # gradients

    def on_backward_end(self, event: Backward) -> None:
        if event.error is not None:
            return
        self._backwards += 1
        if self._backwards <= self._look_until or self._backwards >= self._next_look:
            if self._backwards >= self._next_look:
                self._next_look = 2 * self._backwards
            self._look(event)
        elif self._waiting:
            self._ask_waiting()

    def _look(self, event: Backward) -> None:
        objects, ledger = self.session.objects, self.run.ledger
        registered: set[int] = set()
        for _, root in objects.roots():
            objects.refresh_root(root)
            registered.update(id(p) for p in walk.parameters(root))
        had: set[int] = set()
        for index, record in enumerate(ledger.parameters):
            tensor = objects.tensor(index)
            if tensor is None:
                record.registered = False
                continue
            if record.root is not None:
                record.registered = id(tensor) in registered
            record.trainable = tensor.requires_grad
            frozen = self._frozen.pop(id(tensor), None)
            if frozen is not None and frozen[0]() is tensor:
                record.frozen_at.extend(n for n in frozen[1] if n not in record.frozen_at)
            record.looks += 1
            if tensor.is_leaf and tensor.grad is not None:
                had.add(index)
                self._had_gradient(index)
        for number, optimizer in objects.optimizers():
            self._look_at_optimizer(number, optimizer, had, event.site)
        self._waiting = self._without_gradient()
        self._cursor = 0
        if self._waiting and self._backwards >= _SETTLED:
            self._place_unused()
            self._suspect()
        self._dirty = True

    def _had_gradient(self, index: int) -> None:
        record = self.run.ledger.parameters[index]
        record.gradients += 1
        if record.first_gradient is None:
            record.first_gradient = self.session.step
            if not record.optimizers:
                self._renew()  # thawed, or put in place after the optimizer was made
            if record.root is not None:
                self.run.ledger.roots[record.root].trained = True

    def _look_at_optimizer(self, number: int, optimizer: Any, had: set[int], site: int | None) -> None:
        record, ledger = self.run.ledger.optimizers[number], self.run.ledger
        if self._sizes.get(number) != [len(g["params"]) for g in optimizer.param_groups]:
            self._take_groups(number, optimizer, None, {})
        mine = [i for g in record.groups for i in g.parameters]
        record.looks += 1
        if any(i in had for i in mine):
            record.reached += 1
            record.backward_site = site
        reached = self._reached.setdefault(number, set())
        reached.update(i for i in mine if i in had)
        left = [
            i
            for i in mine
            if i not in reached
            and not ledger.parameters[i].registered
            and (ledger.parameters[i].root is not None or i in self._owned)
        ]
        if left:
            held = {id(p) for m, _ in self.session.objects.made_modules() for p in m._parameters.values()}
            left = [i for i in left if id(self.session.objects.tensor(i)) not in held]
        record.stale = left

    def _without_gradient(self) -> list[int]:
        """One parameter for each layer that had no gradient yet; of those without optimizer, too, whether they move."""
        first: dict[tuple[int | None, str], int] = {}
        alone: dict[tuple[int | None, str], int] = {}
        for index, record in enumerate(self.run.ledger.parameters):
            if record.registered and record.trainable and record.looks > 1:
                if not record.gradients:
                    first.setdefault((record.root, record.module), index)
                elif not record.optimizers:
                    alone.setdefault((record.root, record.module), index)
        for index in (*first.values(), *alone.values()):
            tensor = self.session.objects.tensor(index)
            sample = self._samples.get(index)
            if tensor is None:
                continue
            if sample is None:
                if len(self._samples) < 4 * _ASKED:
                    self._samples[index] = Sample(tensor)
            elif (seen := sample.look()) is not None and (seen[0] or self.run.ledger.parameters[index].moved is None):
                self._moved(index, seen[0])
        return list(first.values())

    def _moved(self, index: int, moved: bool) -> None:
        """What holds for one parameter of a layer holds for the layer."""
        of = self.run.ledger.parameters[index]
        for record in self.run.ledger.parameters:
            same = record.root == of.root and record.module == of.module
            if same and bool(record.gradients) == bool(of.gradients):
                record.moved = moved

    def _ask_waiting(self) -> None:
        objects = self.session.objects
        asked = self._waiting[self._cursor : self._cursor + _ASKED]
        self._cursor = self._cursor + _ASKED if self._cursor + _ASKED < len(self._waiting) else 0
        for index in asked:
            tensor = objects.tensor(index)
            if tensor is not None and tensor.is_leaf and tensor.grad is not None:
                of = self.run.ledger.parameters[index]
                for i, record in enumerate(self.run.ledger.parameters):
                    if record.root == of.root and record.module == of.module and not record.gradients:
                        other = objects.tensor(i)
                        if other is not None and other.is_leaf and other.grad is not None:
                            self._had_gradient(i)
                self._waiting = [i for i in self._waiting if i != index]

    def _suspect(self) -> None:
        """Ask for a close look while parameters that an optimizer holds are used and get nothing."""
        cuts = self.session.instrument("cuts")
        if cuts is not None and any(
            self.run.ledger.parameters[i].called and self.run.ledger.parameters[i].optimizers for i in self._waiting
        ):
            cuts.want_look()  # type: ignore[attr-defined]

    def _place_unused(self) -> None:
        """For the largest parts that never got a gradient: their path and where they are bound."""
        objects, parameters = self.session.objects, self.run.ledger.parameters
        roots = {parameters[i].root for i in self._waiting}
        for number, root in objects.roots():
            if number not in roots:
                continue
            name = self.run.ledger.roots[number].name
            self._descend(root, name, [(root, "")])

    def _descend(self, module: nn.Module, path: str, chain: list[tuple[nn.Module, str]]) -> None:
        objects, parameters = self.session.objects, self.run.ledger.parameters

        def unused(parameter: torch.Tensor) -> bool:
            index = objects.known_parameter(parameter)
            return index is not None and parameters[index].trainable and not parameters[index].gradients

        mine = list(walk.parameters(module))
        if not any(unused(p) for p in mine):
            return
        if all(unused(p) for p in mine) and len(chain) > 1:
            self._mark(mine, path, chain)
            return
        for attribute, parameter in module._parameters.items():
            if parameter is not None and unused(parameter):
                self._mark([parameter], f"{path}.{attribute}", [*chain, (module, attribute)])
        for attribute, child in module._modules.items():
            if child is not None:
                self._descend(child, f"{path}.{attribute}", [*chain, (child, attribute)])

    def _mark(self, parameters: list[nn.Parameter], path: str, chain: list[tuple[nn.Module, str]]) -> None:
        objects = self.session.objects
        site, library = None, False
        for (owner, _), (_, attribute) in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
            if self._user_class(owner):
                site = blame.assignment(self.session, type(owner), attribute, attribute=True)
                break
        else:
            library = not isinstance(chain[0][0], nn.Sequential | nn.ModuleList | nn.ModuleDict)
        for parameter in parameters:
            index = objects.known_parameter(parameter)
            if index is not None:
                record = self.run.ledger.parameters[index]
                record.unused_part, record.library = path, library
                record.assigned_site = site if site is not None else record.made_site

    def _user_class(self, module: nn.Module) -> bool:
        found = blame.class_node(type(module))
        return found is not None and self.session.sites.is_user(found[0])

    # the record

    def refresh(self) -> None:
        """Links between roots and optimizers."""
        if not self._dirty:
            return
        self._dirty = False
        ledger = self.run.ledger
        held: dict[int, set[int]] = {}
        for number, optimizer in enumerate(ledger.optimizers):
            roots = {
                root for g in optimizer.groups for i in g.parameters if (root := ledger.parameters[i].root) is not None
            }
            optimizer.trained_mode = bool(roots & self._training)
            optimizer.inputs_differentiated = bool(roots & self._differentiated)
            for root in roots:
                held.setdefault(root, set()).add(number)
        for root, record in enumerate(ledger.roots):
            record.optimizers = sorted(held.get(root, ()))


def _number(value: Any) -> float | None:
    """A group's setting as a number; an accelerator's tensor is not read."""
    if isinstance(value, torch.Tensor):
        return float(value.detach()) if value.device.type == "cpu" and value.numel() == 1 else None
    return float(value) if isinstance(value, int | float) else None


def _modules_in(frame: FrameType | None, names: dict[str, Any]) -> list[nn.Module]:
    """Modules among a frame's variables and the attributes of its `self`."""
    values = list(names.values())
    first = frame.f_code.co_varnames[:1] if frame is not None else ()
    if first and first[0] in names:
        values.extend(getattr(names[first[0]], "__dict__", {}).values())
    return [v for v in values if isinstance(v, nn.Module)]
