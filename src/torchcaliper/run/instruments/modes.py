"""In which mode each network runs: training or evaluation, with or without gradients, and what became of its output."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import blame, walk
from torchcaliper.run.events import (
    Backward,
    Batch,
    Ended,
    Forward,
    GradModeSet,
    LossCall,
    ModeSet,
    Operation,
    StateLoaded,
    Step,
)
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.interruption import message
from torchcaliper.run.record import DisabledTraining, ForwardKind, ModeCall, RootTraining, StuckMode

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: outputs of one line watched for a backward between two optimizer steps; an unrolled recurrent cell has thousands
_WATCHED = 64
#: lines remembered: a program that makes code without end must not fill the memory
_MOST_KINDS = 512
#: inputs remembered per line, to recognise a fixed evaluation set
_INPUTS = 4


class _Kind:
    """A `ForwardKind` and what is needed to fill it."""

    __slots__ = (
        "epoch",
        "inputs",
        "last_input",
        "last_step",
        "loaders",
        "matched",
        "mode_open",
        "new_inputs",
        "open",
        "record",
        "restored",
        "run",
    )

    def __init__(self, record: ForwardKind) -> None:
        self.record = record
        self.epoch = -1  # optimizer steps seen at the last call
        self.open = 0  # calls with gradient since then that no backward has gone through yet
        self.run = 0  # calls since then
        self.mode_open = 0  # training-mode calls after a train() whose purpose is not clear yet
        self.last_input: weakref.ref[torch.Tensor] | None = None
        self.inputs: list[weakref.ref[torch.Tensor]] = []
        self.new_inputs: list[weakref.ref[torch.Tensor]] = []
        self.matched = False
        self.loaders: dict[int, int] = {}  # loader -> calls without backward
        self.last_step = -1
        self.restored = -1


class _Pending:
    """Waits in a graph for the backward that goes through it."""

    __slots__ = ("done", "epoch", "kind", "loader", "modes", "root")

    def __init__(self, modes: Modes, kind: _Kind, root: _Root, epoch: int, loader: int | None) -> None:
        self.modes, self.kind, self.root, self.epoch, self.loader = weakref.ref(modes), kind, root, epoch, loader
        self.done = False

    def __call__(self, gradients: Any) -> None:
        modes = self.modes()
        if self.done or (modes is not None and modes.session.measuring):
            return
        self.done = True
        kind, root = self.kind, self.root
        kind.record.consumed += 1
        if self.epoch == kind.epoch:
            kind.open -= 1
        else:
            kind.record.graph_kept -= 1
        if kind.record.training:
            root.consumed_training += 1
        else:
            root.consumed_evaluation += 1
        if self.loader is not None:
            kind.loaders[self.loader] = kind.loaders.get(self.loader, 0) - 1
            if modes is not None:
                modes.training_loaders.add(self.loader)


class _Root:
    """What is known of one root's modes."""

    __slots__ = (
        "consumed_evaluation",
        "consumed_training",
        "counting",
        "eval_forwards",
        "evaluated",
        "kinds",
        "mode",
        "mode_frame_user",
        "moved_mode",
        "number",
        "overridden",
        "pretrained",
        "stuck",
        "train_called",
        "trained",
        "training_inputs",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.kinds: list[_Kind] = []
        self.mode: ModeCall | None = None  # the call in force
        self.mode_frame_user = False
        self.moved_mode = False  # train()/eval() was called since the last optimizer step
        self.train_called = False
        self.overridden = False  # train() leaves it in evaluation mode
        self.evaluated = False  # a forward that is no training took place since the eval() in force
        self.pretrained = False
        self.consumed_training = 0  # forwards a backward went through since the last optimizer step
        self.consumed_evaluation = 0
        self.eval_forwards = 0  # evaluation-mode forwards since the last optimizer step
        self.trained: RootTraining | None = None
        self.counting: tuple[Any, bool] | None = None  # (optimizer's number, in training mode) at its last step
        self.stuck: dict[int | None, StuckMode] = {}
        self.training_inputs: list[weakref.ref[torch.Tensor]] = []


class Modes(Instrument):
    """Keeps `run.modes.forwards`, `calls`, `stuck`, `trained` and `disabled`."""

    name = "modes"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.training_loaders: set[int] = set()
        self._roots: dict[int, _Root] = {}
        self._kinds: dict[tuple[Any, ...], _Kind] = {}
        self._epoch = 0  # optimizer steps of all optimizers
        self._calls: dict[tuple[Any, ...], ModeCall] = {}
        self._unattached: list[tuple[weakref.ref[nn.Module], ModeCall, bool]] = []
        self._members: dict[int, tuple[weakref.ref[nn.Module], int, frozenset[int]]] = {}
        self._loaders: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._loader_count = 0
        self._batch: tuple[int, int, list[weakref.ref[torch.Tensor]]] | None = None
        self._batches: dict[int, list[weakref.ref[torch.Tensor]]] = {}
        self._last: tuple[_Kind, _Root, weakref.ref[torch.Tensor] | None] | None = None
        self._inside: tuple[int, bool] | None = None  # root and mode of the forward that runs
        self._loss_inside = False
        self._functional: dict[int, set[str]] = {}  # root -> functional dropout seen active in its training forwards
        self._recent: list[_Kind] = []  # since the last optimizer step or backward
        self._disabled_by: int | None = None  # site of a set_grad_enabled(False) not undone
        self._disabled: dict[tuple[int, int | None], DisabledTraining] = {}
        self._loaded: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._holds: set[tuple[int, int]] = set()
        self._ended = False

    # train() and eval()

    def on_mode_end(self, event: ModeSet) -> None:
        number = self.session.objects.known_root(self.session.objects.unwrap(event.module))
        key = (event.site, id(event.module), event.training)
        call = self._calls.get(key)
        if call is None:
            call = ModeCall(event.site, number, type(event.module).__name__, event.training, first_step=self.run.steps)
            if len(self._calls) < _MOST_KINDS:
                self._calls[key] = call
                self.run.modes.calls.append(call)
        call.root = number if call.root is None else call.root
        call.times += 1
        for index in self._affected(event.module):
            self._mode_changed(self._roots[index], call, event.by_user)
        self._unattached = [u for u in self._unattached if (m := u[0]()) is not None and m is not event.module][-32:]
        self._unattached.append((weakref.ref(event.module), call, event.by_user))

    def _affected(self, module: nn.Module) -> frozenset[int]:
        """Known roots that are `module` or inside it."""
        cached = self._members.get(id(module))
        if cached is not None and cached[0]() is module and cached[1] == len(self._roots):
            return cached[2]
        inside = {id(m) for m in walk.modules(module)}
        inside.add(id(self.session.objects.unwrap(module)))
        found = frozenset(i for i, root in self.session.objects.roots() if i in self._roots and id(root) in inside)
        if len(self._members) > 256:
            self._members.clear()
        self._members[id(module)] = (weakref.ref(module), len(self._roots), found)
        return found

    def _mode_changed(self, root: _Root, call: ModeCall, by_user: bool) -> None:
        for kind in root.kinds:
            if kind.mode_open:
                kind.record.mode_set += kind.mode_open
                kind.mode_open = 0
        if call.training and by_user:
            self._note_restored(root, call)
        root.mode, root.mode_frame_user, root.moved_mode, root.evaluated = call, by_user, True, False
        if call.training:
            module = self.session.objects.module(root.number)
            root.train_called = root.train_called or by_user
            root.overridden = module is not None and not module.training

    def _note_restored(self, root: _Root, call: ModeCall) -> None:
        """Forwards since the last step whose own function calls train() below them."""
        if call.site is None:
            return
        place = self.run.sites[call.site]
        for kind in root.kinds:
            if kind.epoch == self._epoch and kind.record.training and kind.record.site is not None and kind.run:
                forward = self.run.sites[kind.record.site]
                same = (forward.path, forward.function) == (place.path, place.function)
                if same and forward.line < place.line and kind.restored != self._epoch:
                    kind.restored = self._epoch
                    kind.record.train_after += 1

    def on_load_end(self, event: StateLoaded) -> None:
        for module in walk.modules(event.module):
            self._loaded.add(module)
        for index in self._affected(event.module):
            self._roots[index].pretrained = True

    def on_grad_mode(self, event: GradModeSet) -> None:
        self._disabled_by = None if event.enabled else event.site

    # forwards

    def on_forward_begin(self, event: Forward) -> None:
        number = self.session.objects.known_root(event.root)
        self._inside = (number, event.training) if number is not None else None
        self._loss_inside = False

    def on_operation(self, event: Operation) -> None:
        if (
            self._inside is None
            or not self._inside[1]
            or not event.name.endswith(("dropout", "dropout1d", "dropout2d", "dropout3d", "attention"))
        ):
            return
        if _random(event):
            self._functional.setdefault(self._inside[0], set()).add(f"F.{event.name}")

    def on_forward_end(self, event: Forward) -> None:
        self._inside = None
        number = self.session.objects.known_root(event.root)
        if event.error is not None or number is None:
            return
        root = self._roots.get(number)
        if root is None:
            root = self._new_root(number, event.root)
        key = (number, event.site, event.training, event.grad, event.inference, event.autocast)
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= _MOST_KINDS:
                return
            kind = self._kinds[key] = self._new_kind(number, root, event)
        self._count(kind, root)
        record = kind.record
        if record.training:
            if root.moved_mode:
                kind.mode_open += 1
        else:
            root.eval_forwards += 1
            record.mode_set += root.moved_mode
            root.evaluated = root.evaluated or not event.grad
        given = event.args[0] if event.args else next(iter(event.kwargs.values()), None)
        if not isinstance(given, torch.Tensor):
            inputs = tensors_in((event.args, event.kwargs), 1)
            given = inputs[0] if inputs else None
        loader = self._loader_of(given, number)
        if loader is not None:
            record.with_loader += 1
        watched = self._watch_output(kind, root, event, loader)
        if loader is not None and (watched or not event.grad):
            kind.loaders[loader] = kind.loaders.get(loader, 0) + 1
        if given is not None and kind.run <= _WATCHED:
            self._note_input(kind, root, given)
        if self._loss_inside and not event.grad:
            record.loss_calls += 1
        if kind not in self._recent:
            self._recent.append(kind)
            del self._recent[:-16]

    def _count(self, kind: _Kind, root: _Root) -> None:
        record, step = kind.record, self.run.steps
        record.calls += 1
        record.last_step = step
        if step != kind.last_step:
            kind.last_step = step
            record.steps += 1
        if kind.epoch != self._epoch:
            kind.epoch = self._epoch
            record.graph_kept += kind.open
            record.runs += 1
            kind.open = kind.run = 0
            kind.matched = False
            kind.inputs = (kind.inputs + kind.new_inputs)[-_INPUTS:]
            kind.new_inputs = []
        kind.run += 1
        if kind.run > record.longest_run:
            record.longest_run = kind.run

    def _watch_output(self, kind: _Kind, root: _Root, event: Forward, loader: int | None) -> bool:
        """Wait for a backward through the output; whether there is a graph to wait at."""
        output = event.output
        tensors = [output] if isinstance(output, torch.Tensor) else tensors_in(output, 4)
        last = weakref.ref(tensors[0]) if tensors else None
        self._note_chain(event)
        self._last = (kind, root, last)
        if not event.grad or kind.run > _WATCHED:
            return False
        pending: _Pending | None = None
        for tensor in tensors:
            node = tensor.grad_fn if tensor.requires_grad else None
            if node is not None:
                if pending is None:
                    pending = _Pending(self, kind, root, self._epoch, loader)
                node.register_prehook(pending)
        if pending is not None:
            kind.open += 1
        return pending is not None

    def _note_chain(self, event: Forward) -> None:
        if self._last is None or self._last[2] is None:
            return
        output = self._last[2]()
        if (
            output is not None
            and any(a is output for a in event.args)
            and self._last[0].record.root != self.session.objects.known_root(event.root)
        ):
            self._last[0].record.chained += 1

    def _note_input(self, kind: _Kind, root: _Root, given: torch.Tensor) -> None:
        """Recognise an input that was there before. A view counts as what it is a view of."""
        record = kind.record
        if kind.last_input is not None and kind.last_input() is given:
            record.same_input += kind.run > 1
        else:
            kind.last_input = weakref.ref(given)
        base = given._base if given._base is not None else given
        if record.grad and record.training:
            if not any(r() is base for r in root.training_inputs):
                alive = [r for r in root.training_inputs if r() is not None]
                root.training_inputs = [*alive[-7:], weakref.ref(base)]
            return
        if not kind.matched and any(r() is base for r in kind.inputs):
            kind.matched = True
            if not any(r() is base for r in root.training_inputs):
                record.fixed_input += 1
        if len(kind.new_inputs) < _INPUTS and not any(r() is base for r in kind.new_inputs):
            kind.new_inputs.append(weakref.ref(base))

    def _new_root(self, number: int, module: nn.Module) -> _Root:
        root = self._roots[number] = _Root(number)
        root.pretrained = module in self._loaded or self.session.objects.made(module) is None
        for reference, call, by_user in self._unattached:
            holder = reference()
            if holder is not None and any(m is module for m in walk.modules(self.session.objects.unwrap(holder))):
                self._mode_changed(root, call, by_user)
        return root

    def _new_kind(self, number: int, root: _Root, event: Forward) -> _Kind:
        record = ForwardKind(
            root=number,
            site=event.site,
            training=event.training,
            grad=event.grad,
            inference=event.inference,
            autocast=event.autocast[1] if event.autocast else "",
            mode_site=root.mode.site if root.mode is not None else None,
            first_step=self.run.steps,
        )
        self.run.modes.forwards.append(record)
        kind = _Kind(record)
        root.kinds.append(kind)
        if event.training:
            record.layers = self._active_layers(number, True)
        if not event.grad:
            record.grad_site = self._guard(event.frame)
        return kind

    def _guard(self, frame: FrameType | None) -> int | None:
        frames = self.session.sites.user_frames(frame) if frame is not None else self.session.user_frames()
        guard = blame.grad_guard(self.session, frames)
        return guard if guard is not None else self._disabled_by

    def _active_layers(self, number: int, training: bool) -> list[str]:
        """Dropout and BatchNorm layers of a root that are in this mode themselves."""
        module = self.session.objects.module(number)
        if module is None:
            return []
        record = self.run.ledger.roots[number]
        found = []
        for path in [*record.dropout, *record.batch_norm]:
            try:
                layer = module.get_submodule(path)
            except AttributeError:
                continue
            if layer.training == training:
                found.append(f"{path} ({type(layer).__name__})" if path else type(layer).__name__)
        return found

    # batches

    def on_batch(self, event: Batch) -> None:
        entry = self._loaders.get(id(event.loader))
        if entry is None or entry[0]() is not event.loader:
            entry = self._loaders[id(event.loader)] = (weakref.ref(event.loader), self._loader_count)
            self._loader_count += 1
        tensors = [weakref.ref(t) for t in tensors_in(event.data, 4, 2)]
        self._batches.pop(entry[1], None)
        self._batches[entry[1]] = tensors
        if len(self._batches) > 4:
            del self._batches[next(iter(self._batches))]
        self._batch = (entry[1], self._epoch, tensors)

    def _loader_of(self, given: torch.Tensor | None, root: int) -> int | None:
        """The DataLoader an input came from: by the very tensor, else the last to deliver since the last step."""
        if self._batch is None:
            return None
        if given is not None:
            base = given._base
            for loader, tensors in self._batches.items():
                for reference in tensors:
                    tensor = reference()
                    if tensor is not None and (tensor is given or tensor is base):
                        return loader
        return self._batch[0] if self._batch[1] == self._epoch else None

    # losses, backward, steps

    def on_loss_end(self, event: LossCall) -> None:
        if self._inside is not None:
            self._loss_inside = True
            return
        if self._last is None:
            return
        kind, _, output = self._last
        if not event.grad:
            if not kind.record.grad:
                kind.record.loss_calls += 1
            return
        if not kind.record.grad:
            kind.record.feeds_training += 1
            return
        value = output() if output is not None else None
        first = event.args[0] if event.args else None
        if (
            value is not None
            and isinstance(first, torch.Tensor)
            and (first is value or first._base is value or (value._base is not None and first._base is value._base))
        ):
            kind.record.direct_loss += 1

    def on_backward_end(self, event: Backward) -> None:
        if event.error is not None and "does not require grad" in message(event.error):
            self._backward_failed(event)
        self._recent.clear()

    def _backward_failed(self, event: Backward) -> None:
        """The loss has no graph: was every forward since the last backward run without gradients?"""
        roots = self.session.objects
        forwards = []
        for kind in self._recent:
            module = roots.module(kind.record.root)
            if module is not None and any(p.requires_grad for p in walk.parameters(module)):
                forwards.append(kind.record)
        if not forwards or any(record.grad for record in forwards):
            return
        record = forwards[-1]
        key = (record.root, record.site)
        told = self._disabled.get(key)
        if told is None:
            told = self._disabled[key] = DisabledTraining(
                root=record.root,
                forward_site=record.site,
                guard_site=record.grad_site,
                backward_site=event.site,
                how="inference_mode" if record.inference else "no_grad",
                message=message(event.error).partition("\n")[0] if event.error is not None else "",
                step=self.run.steps,
            )
            self.run.modes.disabled.append(told)
        told.times += 1

    def on_step_end(self, event: Step) -> None:
        if event.nested:
            return
        self._epoch += 1
        self._recent.clear()
        for root in self._roots.values():
            if root.consumed_training or root.consumed_evaluation or root.eval_forwards:
                self._root_stepped(root, event)
            root.moved_mode = False

    def on_step_passed(self, event: Step) -> None:
        """A step like the last ones, of which nothing else was told."""
        self._epoch += 1
        number = self.session.objects.known_optimizer(event.optimizer)
        for root in self._roots.values():
            root.moved_mode = False
            if root.trained is None or root.counting is None or root.counting[0] != number:
                continue
            if root.counting[1]:
                root.trained.steps += 1
                for kind in root.kinds:
                    kind.mode_open = 0
            else:
                root.trained.evaluation_steps += 1

    def _root_stepped(self, root: _Root, event: Step) -> None:
        if root.eval_forwards > root.consumed_evaluation:
            root.evaluated = True
        in_training, in_evaluation = root.consumed_training > 0, root.consumed_evaluation > 0
        root.consumed_training = root.consumed_evaluation = root.eval_forwards = 0
        if not (in_training or in_evaluation) or not self._holds_root(event.optimizer, root.number):
            return
        trained = root.trained
        if trained is None:
            trained = root.trained = RootTraining(root.number)
            self.run.modes.trained.append(trained)
        root.counting = self.session.objects.known_optimizer(event.optimizer), in_training
        if in_training:
            trained.steps += 1
            for kind in root.kinds:
                kind.mode_open = 0  # that train() was for this training
            return
        trained.evaluation_steps += 1
        mode = root.mode
        if mode is not None and not mode.training and root.mode_frame_user and root.evaluated and not root.overridden:
            self._stuck(root, mode)

    def _stuck(self, root: _Root, mode: ModeCall) -> None:
        stuck = root.stuck.get(mode.site)
        if stuck is None:
            forward = next((k.record.site for k in root.kinds if not k.record.training and k.record.consumed), None)
            stuck = root.stuck[mode.site] = StuckMode(
                root.number,
                mode.site,
                forward,
                first_step=max(self.run.steps - 1, 0),
                earlier_training=root.train_called or bool(root.trained and root.trained.steps),
                evaluated_between=True,
                layers=self._active_layers(root.number, False),
                pretrained=root.pretrained,
            )
            self.run.modes.stuck.append(stuck)
        stuck.steps += 1
        stuck.evaluations = mode.times

    def _holds_root(self, optimizer: Any, root: int) -> bool:
        number = self.session.objects.optimizer(optimizer)
        if (number, root) in self._holds:
            return True
        module = self.session.objects.module(root)
        if module is None or not _shares(optimizer, walk.parameters(module)):
            return False
        self._holds.add((number, root))
        return True

    # record

    def on_ended(self, event: Ended) -> None:
        self._ended = True

    def refresh(self) -> None:
        for kind in self._kinds.values():
            record = kind.record
            if kind.open and (self._ended or kind.epoch < self._epoch):
                record.graph_kept += kind.open
                kind.open = 0
                kind.epoch = -1 if self._ended else kind.epoch - 1
            if kind.mode_open and self._ended:
                record.mode_set += kind.mode_open
                kind.mode_open = 0
            if record.training and not record.layers:
                record.layers = sorted(self._functional.get(record.root, ()))
            record.foreign_loader = sum(n for loader, n in kind.loaders.items() if loader not in self.training_loaders)
        for number, root in self._roots.items():
            if any(k.record.graph_kept > 1 or not k.record.grad for k in root.kinds):
                self._note_optimizers(number, root)

    def _note_optimizers(self, number: int, root: _Root) -> None:
        """Which stepping optimizers hold a root, also when it is trained through another module."""
        module = self.session.objects.module(number)
        if module is None:
            return
        for index, optimizer in self.session.objects.optimizers():
            if not self.run.ledger.optimizers[index].steps:
                continue
            if (index, number) not in self._holds and not _shares(optimizer, walk.parameters(module)):
                continue
            self._holds.add((index, number))
            if root.trained is None:
                root.trained = RootTraining(number)
                self.run.modes.trained.append(root.trained)
            if index not in root.trained.optimizers:
                root.trained.optimizers.append(index)


def _shares(optimizer: Any, parameters: Iterable[torch.Tensor]) -> bool:
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return any(id(p) in held and p.requires_grad for p in parameters)


def _random(event: Operation) -> bool:
    """Whether a dropout or attention operator draws random numbers."""
    attention = event.name == "scaled_dot_product_attention"
    position, name = (4, "dropout_p") if attention else (1, "p")
    p = event.args[position] if len(event.args) > position else event.kwargs.get(name, 0.0 if attention else 0.5)
    active = event.args[2] if len(event.args) > 2 and not attention else event.kwargs.get("training", True)
    return isinstance(p, float) and p > 0 and active is True
