"""The order of calls within a step: zero_grad, backward, unscale, clip, step, update, scheduler.

Every optimizer has its own order (`Pattern`): a call is entered only for the optimizers it concerns, such as a backward
for those whose parameters it reached. Programs have a few patterns, however many steps they make.
"""

from __future__ import annotations

import ast
from typing import Any

import torch

from torchcaliper.run import blame
from torchcaliper.run.events import Backward, Clip, OptimizerMade, ScalerCall, Step, ZeroGrad
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.scaling import Scaling
from torchcaliper.run.instruments.tracks import Track
from torchcaliper.run.record import AutocastBackward, PartialClip, StrayClip, UnsteppedBackward, ZeroGradCall
from torchcaliper.run.session import Session

#: a clipping limit that large is no limit: the call is there for the norm it returns
_NO_LIMIT = 1e6
#: patterns kept of all optimizers together: some programs make an optimizer per client, fold or round
_ALL_PATTERNS = 4000
#: an optimizer that steps seldom must have been followed for this many of its steps before any are left out
_ENOUGH = 32
#: places of each kind that are kept
_PLACES = 200


class Protocol(Instrument):
    """Follows the gradients of every optimizer and keeps the orders of calls."""

    name = "protocol"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.tracks: dict[int, Track] = {}
        self._gone: list[int] = []  # optimizers that have died
        self._ended: dict[int, tuple[int, int]] = {}  # dead optimizer -> (steps, backward passes)
        self._clips: dict[tuple[int | None, int, int], tuple[int, list[Track]]] = {}
        self.scaling = Scaling(session)
        self._backward: Backward | None = None
        self._flags: tuple[str, ...] = ()
        self._scaler_step: Any = None
        self._stepping: list[tuple[Track, bool, bool]] = []
        self._last_scheduler: dict[int, tuple[int, int | None]] = {}  # optimizer -> (backwards then, site)
        self._zero_grads: dict[int | None, ZeroGradCall] = {}
        self._strays: dict[int | None, StrayClip] = {}
        self._autocast: dict[int | None, AutocastBackward] = {}
        self._partial: dict[tuple[int, int | None], PartialClip] = {}
        self._clipping: list[Track] = []
        self._partial_now: list[PartialClip] = []
        self._unstepped: dict[tuple[int, int | None], UnsteppedBackward] = {}
        self._sources_read = False
        self._members: dict[int, tuple[int, frozenset[int]]] = {}  # optimizer -> (parameters counted, their ids)

    def track(self, optimizer: Any) -> Track:
        """The track of an optimizer; made on first sight."""
        index = self.session.objects.optimizer(optimizer)
        track = self.tracks.get(index)
        if track is None:
            track = self.tracks[index] = Track(index, optimizer, lambda _: self._gone.append(index))
            self._clips.clear()
        return track

    def _living(self) -> list[Track]:
        while self._gone:
            index = self._gone.pop()
            track = self.tracks.pop(index)
            self._keep(track)
            self._ended[index] = (track.steps, track.all_backwards())
            self._members.pop(index, None)
            self._clips.clear()
        return list(self.tracks.values())

    # rests

    def may_rest(self) -> bool:
        return all(t.followed >= _ENOUGH or not t.steps for t in self.tracks.values())

    def resumed(self, optimizer: object) -> None:
        self._stepping.clear()
        self._clipping, self._partial_now = [], []
        self._backward = None
        for track in self._living():
            track.resume(track.reference() is optimizer)

    def on_step_passed(self, event: Step) -> None:
        track = self.track(event.optimizer)
        track.steps += 1
        track.plain_step = event.scaler is None or not event.scaler.is_enabled()

    def on_optimizer_made(self, event: OptimizerMade) -> None:
        self.track(event.optimizer)

    # backward

    def on_backward_begin(self, event: Backward) -> None:
        self._backward = event
        self._flags = self._flags_of(event)
        if event.stepping is None:
            self._stepping.clear()  # a step that raised never ended
        for track in self._living():
            track.backward_begins()

    def on_backward_end(self, event: Backward) -> None:
        if self._backward is None:
            return
        self._backward = None
        flags = self._flags
        scaled = "scaled" in flags
        for track in self.tracks.values():
            if not track.backward_ends() or event.error is not None:
                continue
            track.orders.enter("backward", event.site, *flags)
            track.pending, track.has_pending = event.site, True
            if scaled and track.plain_step:
                track.probe()
        if event.autocast is not None:
            place = self._autocast.get(event.site)
            if place is None and len(self._autocast) < _PLACES:
                place = AutocastBackward(event.site, *event.autocast, first_step=self.session.step)
                self._autocast[event.site] = place
                self.run.protocol.autocast_backwards.append(place)
            if place is not None:
                place.times += 1

    def _flags_of(self, event: Backward) -> tuple[str, ...]:
        flags = self.scaling.flags(event.tensors, event.site)
        if event.autocast is not None:
            flags += ("autocast",)
        if event.retain_graph:
            flags += ("retain",)
        if event.stepping is not None:
            flags += ("closure",)
        return flags

    # zero_grad

    def on_zero_grad_begin(self, event: ZeroGrad) -> None:
        if len(self.tracks) > 1:  # what one did by hand must not be taken for another's clearing
            for track in self.tracks.values():
                track.notice("zero_grad")

    def on_zero_grad_end(self, event: ZeroGrad) -> None:
        place = self._zero_grads.get(event.site)
        if place is None and len(self._zero_grads) < _PLACES:
            optimizer = isinstance(event.owner, torch.optim.Optimizer)
            index = self.session.objects.optimizer(event.owner) if optimizer else None
            place = self._zero_grads[event.site] = ZeroGradCall(event.site, type(event.owner).__name__, index)
            self.run.protocol.zero_grads.append(place)
        if place is not None:
            place.times += 1
        for track in self.tracks.values():
            flags = track.cleared()
            if not flags:
                continue
            track.orders.enter("zero_grad", event.site, *flags)
            if "cleared" in flags:
                if track.has_pending:
                    self._never_stepped(track)
                track.forget_gradients()
            if place is not None and track.index not in place.cleared:
                place.cleared.append(track.index)

    def _never_stepped(self, track: Track) -> None:
        """Gradients are cleared that no step has used."""
        key = (track.index, track.pending)
        entry = self._unstepped.get(key)
        if entry is None:
            if len(self._unstepped) >= _PLACES:
                return
            entry = self._unstepped[key] = UnsteppedBackward(track.index, track.pending)
            self.run.protocol.unstepped.append(entry)
        entry.times += 1
        backwards, site = self._last_scheduler.get(track.index, (-1, None))
        if backwards >= track.backwards:
            entry.scheduler_site = site

    # clip

    def on_clip_begin(self, event: Clip) -> None:
        flags = [event.kind]
        given = event.parameters
        if not any(p.grad is not None for p in given):
            flags.append("no_gradient")
        if event.limit >= _NO_LIMIT:
            flags.append("unlimited")
        tracks = self._concerned(event)
        for track in tracks:
            track.notice("clip")
            track.compare_probe()
            extra = list(flags)
            scaled = self.scaling.is_active and track.has_scaled_gradients()
            if scaled and self.scaling.limit_is_scaled(event.site, event.limit):
                extra.append("scaled_limit")
            key = ("clip", event.site, tuple(extra))
            if "unlimited" not in flags and key in track.orders.calls:
                self._look_for_partial(track, event)
            track.orders.enter(*key[:2], *key[2])
            track.clip_begins()
        self._clipping = tracks
        if not tracks:
            stray = self._strays.get(event.site)
            if stray is None and len(self._strays) < _PLACES:
                stray = self._strays[event.site] = StrayClip(event.site, len(given), first_step=self.session.step)
                self.run.protocol.stray_clips.append(stray)
            if stray is not None:
                stray.times += 1
                stray.no_gradient += "no_gradient" in flags

    def _concerned(self, event: Clip) -> list[Track]:
        """The optimizers that hold one of the parameters; looked up anew at powers of two of a place's calls."""
        given = event.parameters
        key = (event.site, len(given), id(given[0]) if given else 0)
        living = self._living()
        uses, tracks = self._clips.get(key, (0, []))
        uses += 1
        if uses & (uses - 1) == 0:
            ids = {id(p) for p in given}
            tracks = [t for t in living if not ids.isdisjoint(self._ids(t))]
        if len(self._clips) > _PLACES:
            self._clips.clear()
        self._clips[key] = (uses, tracks)
        return tracks

    def _look_for_partial(self, track: Track, event: Clip) -> None:
        """Whether this very call has clipped the same gradients before, and a backward has added to them since."""
        reached = clipped = False
        added: int | None = None
        for kind, site, flags in track.orders.calls:
            if kind == "zero_grad" and "cleared" in flags:
                reached = clipped = False
                added = None
            elif kind == "backward":
                reached = True
                added = site if clipped else None
            elif kind == "clip" and site == event.site and reached:
                clipped = True
        if added is None:
            return
        key = (track.index, event.site)
        partial = self._partial.get(key)
        if partial is None:
            if len(self._partial) >= _PLACES:
                return
            partial = PartialClip(track.index, event.site, added, limit=event.limit, first_step=self.session.step)
            self._partial[key] = partial
            self.run.protocol.partial_clips.append(partial)
        if partial.last_step != track.steps:
            partial.last_step = track.steps
            partial.steps += 1
            self._partial_now.append(partial)

    def on_clip_end(self, event: Clip) -> None:
        for track in self._clipping:
            track.absorb()
        now, self._partial_now = self._partial_now, []
        norm = event.norm
        for partial in now:
            # Reading the norm waits for its device: a few times, then at powers of two.
            if partial.steps > 4 and partial.steps & (partial.steps - 1):
                continue
            if isinstance(norm, torch.Tensor) and type(norm) is torch.Tensor and not norm.is_meta:
                partial.looks += 1
                partial.exceeded += float(norm.detach()) > event.limit

    def _ids(self, track: Track) -> frozenset[int]:
        optimizer = track.reference()
        count = sum(len(group["params"]) for group in optimizer.param_groups) if optimizer is not None else 0
        known = self._members.get(track.index)
        if known is None or known[0] != count:
            known = self._members[track.index] = (count, frozenset(id(p) for p in track.parameters()))
        return known[1]

    # step

    def on_step_begin(self, event: Step) -> None:
        track = self.track(event.optimizer)
        if self._backward is not None and event.optimizer is not self._backward.stepping:
            # the optimizer steps from a hook inside the backward: its gradient has just arrived
            track.orders.enter("backward", self._backward.site)
            track.arrived()
        elif event.scaler is None or self._scaler_step is None:
            track.notice("step")
            track.compare_probe()
        present = track.has_gradient()
        if not present:
            track.remember_parameters()
        self._stepping.append((track, present, present and track.is_stale()))

    def on_step_end(self, event: Step) -> None:
        track = self.track(event.optimizer)
        if not track.is_followed:  # what came before its first step of a stretch is not known in full
            self.on_step_passed(event)
            track.resume(True)
            return
        while self._stepping:
            stepping, present, stale = self._stepping.pop()
            if stepping is track:
                break
        else:
            return
        flags = []
        if not (present or track.reached):
            track.notice("step")  # gradients that a closure has set by hand
        if not (present or track.reached or track.has_gradient()):
            flags.append("no_gradient")
            if track.parameters_moved():
                flags.append("moved")
        elif stale and not track.reached:
            flags.append("stale")
        if track.accumulated():
            flags.append("accumulated")
        scaler = event.scaler is not None and event.scaler.is_enabled()
        if scaler:
            flags.append("scaler")
        elif track.touched or track.probe_result == "different":
            flags.append("unscaled")
        elif track.probe_result == "same":
            flags.append("untouched")
        track.orders.close(event.site, tuple(flags), self.session.step)
        track.steps += 1
        track.followed += 1
        track.plain_step = not scaler
        track.stepped()

    # GradScaler

    def on_scaler_made(self, event: ScalerCall) -> None:
        if event.error is None:
            self.scaling.made(event)

    def on_scaler_begin(self, event: ScalerCall) -> None:
        if self.session.rest.on or self._scaler_step is not None or event.optimizer is None:
            return
        if not event.scaler.is_enabled():
            return
        track = self.track(event.optimizer)
        track.notice(event.call)
        if event.call == "step":
            self._scaler_step = event
            track.orders.enter("scaler_step", event.site)
        else:
            track.orders.enter("unscale", event.site)

    def on_scaler_end(self, event: ScalerCall) -> None:
        inner = self._scaler_step is not None and self._scaler_step is not event
        if not inner:
            self._scaler_step = None
        if not event.scaler.is_enabled():
            return
        if not inner:
            self.scaling.called(event)
        if self.session.rest.on:
            return
        if event.call == "update":
            for track in self.tracks.values():
                if track.scaler_pending:
                    track.scaler_pending = False
                    track.orders.enter("update", event.site)
        if event.optimizer is None:
            return
        track = self.track(event.optimizer)
        if event.call == "unscale" and not inner:
            track.absorb()
        elif event.call == "step" and not inner and event.error is None:
            track.scaler_pending = True
            if event.stepped is False:
                self._skipped(track)

    def _skipped(self, track: Track) -> None:
        """The scaler found a gradient that is not finite: this step does not count."""
        track.orders.drop()
        track.stepped()
        for scheduler in self.run.protocol.schedulers:
            if scheduler.optimizer == track.index and scheduler.calls == 0:
                scheduler.skipped_by_scaler = True

    # schedulers tell us

    def scheduler_called(self, index: int, site: int | None) -> None:
        """The user has stepped a scheduler of that optimizer."""
        track = self.tracks.get(index)
        if track is not None and not self.session.rest.on:
            track.orders.enter("scheduler", site)
            self._last_scheduler[index] = (track.backwards, site)

    def steps(self, index: int) -> int:
        """Steps that the optimizer has made."""
        track = self.tracks.get(index)
        return track.steps if track is not None else self._ended.get(index, (0, 0))[0]

    def backwards(self, index: int) -> int:
        """Backward passes that reached the optimizer."""
        track = self.tracks.get(index)
        return track.all_backwards() if track is not None else self._ended.get(index, (0, 0))[1]

    # record

    def _keep(self, track: Track) -> None:
        protocol = self.run.protocol
        protocol.open_calls.pop(str(track.index), None)
        new = track.orders.new_patterns()
        protocol.patterns.extend(new[: max(0, _ALL_PATTERNS - len(protocol.patterns))])
        calls = track.orders.open_calls()
        if calls and len(protocol.open_calls) < _PLACES:
            protocol.open_calls[str(track.index)] = calls
        if track.steps == 0 and track.has_pending and (track.index, track.pending) not in self._unstepped:
            entry = UnsteppedBackward(track.index, track.pending)
            self._unstepped[track.index, track.pending] = entry
            protocol.unstepped.append(entry)
        if track.steps == 0 and track.has_pending:
            entry = self._unstepped[track.index, track.pending]
            entry.times = max(entry.times, track.backwards)
            backwards, site = self._last_scheduler.get(track.index, (-1, None))
            if backwards >= 1 and entry.scheduler_site is None:
                entry.scheduler_site = site

    def refresh(self) -> None:
        self.scaling.refresh()
        for track in self._living():
            self._keep(track)
        kept = self.run.protocol.patterns
        if not self._sources_read and any(p.count >= 3 and p.step.has("accumulated") for p in kept):
            self._sources_read = True
            self._find_uncalled()

    def _find_uncalled(self) -> None:
        """`optimizer.zero_grad` as a statement: the method is named and not called."""
        for path in sorted({site.path for site in self.run.sites}):
            for line in blame.find(path, _names_zero_grad):
                site = self.session.site_at(path, line, "")
                self.run.protocol.uncalled_zero_grads.append(site)


def _names_zero_grad(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == "zero_grad"
