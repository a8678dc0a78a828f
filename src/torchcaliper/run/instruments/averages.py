"""Averaged copies of a trained network, and whether their BatchNorm statistics follow as their parameters do."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchcaliper.run import walk
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.copy_source import averaging_loops
from torchcaliper.run.instruments.likeness import architecture, distance, sample, trained
from torchcaliper.run.record import Average

if TYPE_CHECKING:
    from torchcaliper.run.events import AverageUpdated, Ended, Forward
    from torchcaliper.run.session import Session

#: evaluations of one module that are looked at: powers of two of its forwards in evaluation mode
_LOOKS = 12


class Averages(Instrument):
    """Fills `run.ledger.averages`."""

    name = "averages"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._trained: dict[int, _Trained] = {}  # by id of the module
        self._evaluations: dict[int, int] = {}  # root -> forwards in evaluation mode
        self._known: set[int] = set()  # ids of roots met in training
        self._plain: set[int] = set()  # roots without BatchNorm
        self._update_sites: dict[int, tuple[weakref.ref[nn.Module], int | None]] = {}
        self._found: dict[tuple[int, int], Average] = {}

    def on_average_updated(self, event: AverageUpdated) -> None:
        if isinstance(inner := event.average._modules.get("module"), nn.Module):
            self._update_sites[id(inner)] = (weakref.ref(inner), event.site)

    def on_forward_begin(self, event: Forward) -> None:
        if event.training and id(event.root) in self._known:
            return
        root = self.session.objects.known_root(event.root)
        if root is None or root in self._plain:
            return
        if event.training:
            if event.grad:
                self._known.add(id(event.root))
                self._first_training(event.root, root)
            return
        count = self._evaluations[root] = self._evaluations.get(root, 0) + 1
        if self._trained and count & (count - 1) == 0 and count < 1 << _LOOKS:
            self._evaluated(event, root)

    def _first_training(self, module: nn.Module, root: int) -> None:
        layers = _layers(module)
        if not layers:
            self._plain.add(root)
            return
        counts = {p: c.detach().clone() for p, n in layers if (c := n.num_batches_tracked) is not None}
        entry = _Trained(weakref.ref(module), root, architecture(module), sample(walk.parameters(module)), counts)
        self._trained[id(module)] = entry

    def _evaluated(self, event: Forward, root: int) -> None:
        average = event.root
        if type(average) is torch.optim.swa_utils.AveragedModel and isinstance(average.module, nn.Module):
            average = average.module
        if id(average) in self._trained:
            return
        layers = dict(_layers(average))
        if not layers:
            self._plain.add(root)
            return
        for entry in list(self._trained.values()):
            module = entry.module()
            if module is None or module is average or type(module) is not type(average):
                continue
            if (
                entry.shape != architecture(average)
                or trained(self.session, average)
                or not trained(self.session, module)
            ):
                continue
            self._compare(event, root, average, layers, module, entry)

    def _compare(
        self,
        event: Forward,
        root: int,
        average: nn.Module,
        layers: dict[str, _BatchNorm],
        module: nn.Module,
        entry: _Trained,
    ) -> None:
        mine, now = sample(walk.parameters(average)), sample(walk.parameters(module))
        way = distance(entry.first, now)
        # The average has left the start and is nearer to where the trained one is now than the start is.
        if not (distance(entry.first, mine) > 0 and distance(mine, now) < way < float("inf")):
            return
        still, worst = 0, ("", 0.0, 0, 0)
        for path, layer in _layers(module):
            other = layers.get(path)
            if other is None or path not in entry.counts or other.num_batches_tracked is None:
                continue
            start, here = int(entry.counts[path]), int(other.num_batches_tracked)
            there = int(layer.num_batches_tracked or 0)
            if here != start or there <= start:
                return  # the statistics follow (or are not collected): copied, averaged or estimated anew
            still += 1
            assert layer.running_mean is not None
            assert layer.running_var is not None
            assert other.running_mean is not None
            assert other.running_var is not None
            with torch.no_grad():
                scale = (layer.running_var + layer.eps).sqrt()
                shift = float(((layer.running_mean - other.running_mean.to(scale.device)).abs() / scale).mean())
                ratio = (other.running_var.to(scale.device) + layer.eps) / (layer.running_var + layer.eps)
                spread = float(ratio.log().abs().mean())
            difference = max(shift, spread)
            if difference > worst[1]:
                worst = (path, difference, there - start, here - start)
        if not still:
            return
        record = self._found.get((entry.root, root))
        if record is None:
            site, is_loop = self._averaging(average)
            record = Average(
                trained=entry.root,
                average=root,
                buffers=0,
                example="",
                site=event.site if site is None else site,
                site_is_loop=is_loop,
                evaluation_site=event.site,
            )
            self._found[entry.root, root] = record
            self.run.ledger.averages.append(record)
        record.buffers, record.example, record.difference = still, worst[0], worst[1]
        record.trained_updates, record.average_updates = worst[2], worst[3]
        record.evaluations = self._evaluations[root]
        self.session.judge_soon()

    def _averaging(self, average: nn.Module) -> tuple[int | None, bool]:
        """The statement that averages: update_parameters, or the one loop in the user's files that can be it."""
        known = self._update_sites.get(id(average))
        if known is not None and known[0]() is average:
            return known[1], False
        loops = {}
        for path in dict.fromkeys(s.path for s in self.run.sites):
            for line, function in averaging_loops(path):
                loops[path, line] = function
        if len(loops) != 1:
            return None, False
        ((path, line), function), *_ = loops.items()
        return self.session.site_at(path, line, function), True

    def on_ended(self, event: Ended) -> None:
        self._trained.clear()


class _Trained:
    """A network with BatchNorm layers as it was at its first training forward."""

    __slots__ = ("counts", "first", "module", "root", "shape")

    def __init__(
        self,
        module: weakref.ref[nn.Module],
        root: int,
        shape: tuple[object, ...],
        first: list[torch.Tensor],
        counts: dict[str, torch.Tensor],
    ) -> None:
        self.module, self.root, self.shape, self.first, self.counts = module, root, shape, first, counts


def _layers(module: nn.Module) -> list[tuple[str, _BatchNorm]]:
    return [
        (path, layer)
        for path, layer in walk.named_modules(module)
        if isinstance(layer, _BatchNorm) and layer.track_running_stats and layer.running_mean is not None
    ]
