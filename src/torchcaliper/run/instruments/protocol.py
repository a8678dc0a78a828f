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
#: places of each kind that are kept
_PLACES = 200


class Protocol(Instrument):
    """Follows the gradients of every optimizer and keeps the orders of calls."""

    name = "protocol"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.tracks: dict[int, Track] = {}
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
        self._partial_now: list[PartialClip] = []
        self._unstepped: dict[tuple[int, int | None], UnsteppedBackward] = {}
        self._sources_read = False
        self._members: dict[int, tuple[int, frozenset[int]]] = {}  # optimizer -> (parameters counted, their ids)

    def track(self, optimizer: Any) -> Track:
        """The track of an optimizer; made on first sight."""
        index = self.session.objects.optimizer(optimizer)
        track = self.tracks.get(index)
        if track is None:
            track = self.tracks[index] = Track(index, optimizer)
        return track

    def _living(self) -> list[Track]:
        tracks = self.tracks
        dead = [i for i, t in tracks.items() if t.reference() is None]
        for index in dead:
            self._keep(tracks.pop(index))
        return list(tracks.values())

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
        self._backward = None
        flags = self._flags
        scaled = "scaled" in flags
        for track in self.tracks.values():
            if not track.backward_ends() or event.error is not None:
                continue
            track.enter("backward", event.site, *flags)
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
            present, gone, in_place = track.absorb()
            if not gone:
                continue
            whole = gone == present
            if whole and track.has_pending:
                self._never_stepped(track)
            track.enter("zero_grad", event.site, "cleared" if whole else "partly", *(("in_place",) if in_place else ()))
            if whole:
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
        ids = {id(p) for p in given}
        known = False
        for track in self._living():
            if ids.isdisjoint(self._ids(track)):
                continue
            known = True
            track.notice("clip")
            track.compare_probe()
            extra = list(flags)
            scaled = any(call[0] == "backward" and "scaled" in call[2] for call in track.calls)
            if scaled and self.scaling.limit_is_scaled(event.site, event.limit):
                extra.append("scaled_limit")
            if "unlimited" not in flags:
                self._look_for_partial(track, event)
            track.enter("clip", event.site, *extra)
            track.clipped = True
        if not known:
            stray = self._strays.get(event.site)
            if stray is None and len(self._strays) < _PLACES:
                stray = self._strays[event.site] = StrayClip(event.site, len(given), first_step=self.session.step)
                self.run.protocol.stray_clips.append(stray)
            if stray is not None:
                stray.times += 1
                stray.no_gradient += "no_gradient" in flags

    def _look_for_partial(self, track: Track, event: Clip) -> None:
        """Whether this very call has clipped the same gradients before, and a backward has added to them since."""
        reached = clipped = False
        added: int | None = None
        for kind, site, flags in track.calls:
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
            track.enter("backward", self._backward.site)
            track.reached = track.ever_reached = True
        elif event.scaler is None or self._scaler_step is None:
            track.notice("step")
            track.compare_probe()
        present = track.has_gradient()
        if not present:
            track.remember_parameters()
        self._stepping.append((track, present, present and track.is_stale()))

    def on_step_end(self, event: Step) -> None:
        index = self.session.objects.optimizer(event.optimizer)
        while self._stepping:
            track, present, stale = self._stepping.pop()
            if track.index == index:
                break
        else:
            return
        flags = []
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
        track.close(event.site, tuple(flags), self.session.step)
        track.steps += 1
        track.plain_step = not scaler
        track.stepped()

    # GradScaler

    def on_scaler_made(self, event: ScalerCall) -> None:
        if event.error is None:
            self.scaling.made(event)

    def on_scaler_begin(self, event: ScalerCall) -> None:
        if self._scaler_step is not None or event.optimizer is None or not event.scaler.is_enabled():
            return
        track = self.track(event.optimizer)
        track.notice(event.call)
        if event.call == "step":
            self._scaler_step = event
            track.enter("scaler_step", event.site)
        else:
            track.enter("unscale", event.site)

    def on_scaler_end(self, event: ScalerCall) -> None:
        inner = self._scaler_step is not None and self._scaler_step is not event
        if not event.scaler.is_enabled():
            return
        if not inner:
            self.scaling.called(event)
        if event.call == "update":
            for track in self.tracks.values():
                if track.scaler_pending:
                    track.scaler_pending = False
                    track.enter("update", event.site)
        if event.optimizer is None:
            return
        track = self.track(event.optimizer)
        if event.call == "unscale" and not inner:
            track.notice("unscale", ours=True)
        elif event.call == "step" and not inner:
            self._scaler_step = None
            if event.error is None:
                track.scaler_pending = True
                if event.stepped is False:
                    self._skipped(track)

    def _skipped(self, track: Track) -> None:
        """The scaler found a gradient that is not finite: this step does not count."""
        track.calls.clear()
        track.times.clear()
        track.stepped()
        for scheduler in self.run.protocol.schedulers:
            if scheduler.optimizer == track.index and scheduler.calls == 0:
                scheduler.skipped_by_scaler = True

    # schedulers tell us

    def scheduler_called(self, index: int, site: int | None) -> None:
        """The user has stepped a scheduler of that optimizer."""
        track = self.tracks.get(index)
        if track is not None:
            track.enter("scheduler", site)
            self._last_scheduler[index] = (track.backwards, site)

    def steps(self, index: int) -> int:
        """Steps that the optimizer has made."""
        track = self.tracks.get(index)
        return track.steps if track is not None else 0

    def backwards(self, index: int) -> int:
        """Backward passes that reached the optimizer."""
        track = self.tracks.get(index)
        return track.backwards if track is not None else 0

    # record

    def _keep(self, track: Track) -> None:
        protocol = self.run.protocol
        protocol.open_calls.pop(str(track.index), None)
        calls = track.open_calls()
        if calls:
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
        kept = self.run.protocol.patterns
        known = {id(p) for p in kept}
        for track in self.tracks.values():
            kept.extend(p for p in track.patterns.values() if id(p) not in known)
            self._keep(track)
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
