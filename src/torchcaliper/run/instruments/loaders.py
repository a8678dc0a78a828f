"""How often each DataLoader was gone through, and which of them feed the training."""

from __future__ import annotations

import weakref
from typing import Any

from torchcaliper.run.events import Batch, Forward, LoaderEpoch, LoaderMade, ModeSet, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record import Loader
from torchcaliper.run.session import Session

#: loaders kept: a program may make a new one every epoch
_LOADERS = 200
#: optimizer steps that make a stretch of training
_BLOCK = 2


class Loaders(Instrument):
    """Counts epochs. A batch belongs to training when a forward with grad enabled follows before another loader's."""

    name = "loaders"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._known: dict[int, tuple[weakref.ref[Any], Loader]] = {}
        self._by_site: dict[int | None, Loader] = {}
        self._delivered: dict[int, tuple[Loader, bool]] = {}  # id -> (loader, seen by a forward without grad)
        self._feeding: list[Loader] = []
        self._trained_epoch: dict[int, int] = {}  # id of the record -> the epoch that was last counted
        self._steps_at_evaluation = 0
        self._steps_at_mode = 0

    def on_loader_made(self, event: LoaderMade) -> None:
        self._record(event.loader, event.site)

    def _record(self, loader: Any, site: int | None) -> Loader | None:
        known = self._known.get(id(loader))
        if known is not None and known[0]() is loader:
            return known[1]
        loaders = self.run.protocol.loaders
        record = self._by_site.get(site)  # made anew at the same place: the same loader to its reader
        if record is None:
            if len(loaders) >= _LOADERS:
                return None
            record = Loader(
                site=site,
                batch_size=loader.batch_size,
                drop_last=bool(loader.drop_last),
                samples=_length(loader.dataset),
                length=None,
            )
            loaders.append(record)
            if site is not None:
                self._by_site[site] = record
        self._known[id(loader)] = (weakref.ref(loader), record)
        return record

    def on_loader_epoch(self, event: LoaderEpoch) -> None:
        record = self._record(event.loader, event.site)
        if record is not None:
            if record.length is None:
                record.length = _length(event.loader)
            record.epochs += 1

    def on_batch(self, event: Batch) -> None:
        known = self._known.get(id(event.loader))
        if known is None:
            return
        record = known[1]
        key = id(record)
        delivered = self._delivered
        if len(delivered) > (key in delivered):
            for other in [k for k, (_, seen) in delivered.items() if seen and k != key]:
                del delivered[other]
        delivered[key] = (record, False)

    def on_forward_begin(self, event: Forward) -> None:
        if event.grad:
            if event.autocast is not None and event.training:
                dtypes = self.run.protocol.autocast_dtypes
                dtypes[event.autocast[1]] = dtypes.get(event.autocast[1], 0) + 1
            if self._delivered:
                self._feeding = [record for record, _ in self._delivered.values()]
                self._delivered.clear()
            return
        for key, (record, seen) in self._delivered.items():
            if not seen:
                self._delivered[key] = (record, True)
        steps = self.session.step
        if steps - self._steps_at_evaluation >= _BLOCK:
            self.run.protocol.evaluation_blocks += 1
        self._steps_at_evaluation = steps

    def on_step_end(self, event: Step) -> None:
        for record in self._feeding:
            record.training_steps += 1
            if self._trained_epoch.get(id(record)) != record.epochs:
                self._trained_epoch[id(record)] = record.epochs
                record.training_epochs += 1

    def on_step_passed(self, event: Step) -> None:
        self.on_step_end(event)

    def on_mode_end(self, event: ModeSet) -> None:
        if event.training and event.by_user:
            steps = self.session.step
            if steps - self._steps_at_mode >= _BLOCK:
                self.run.protocol.mode_blocks += 1
            self._steps_at_mode = steps


def _length(thing: Any) -> int | None:
    try:
        return len(thing)
    except (TypeError, NotImplementedError, RuntimeError):
        return None
