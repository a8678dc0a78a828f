"""Autocast regions that lower nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.events import Forward, LossCall, WarningShown
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.probes.forward import autocast_region
from torchcaliper.run.record import AutocastMiss

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_LOW = (torch.float16, torch.bfloat16)
#: layers whose work autocast lowers (https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference)
_LOWERED = (nn.Linear, nn.modules.conv._ConvNd, nn.RNNBase)


class Autocast(Instrument):
    """Keeps `run.modes.autocast_misses`."""

    name = "autocast"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._misses: dict[tuple[int, str], AutocastMiss] = {}
        self._calls: dict[tuple[int, tuple[str, str]], int] = {}
        self._in_effect: set[str] = set()  # device types for which some region around a network does something
        self._inside = False
        self._outside: dict[int, bool] = {}  # root trained outside of any region -> its layers run in full precision
        self._last: tuple[int, int | None] | None = None
        self._refused: tuple[str, str, int | None] | None = (
            None  # device type, dtype, site of a region torch switched off
        )

    def on_warning(self, event: WarningShown) -> None:
        text = event.message
        if "Disabling autocast" not in text or event.site is None:
            return
        if text.startswith("CUDA is not available"):
            self._refused = ("cuda", "", event.site)
        elif text.startswith("In ") and "dtype is not supported" in text:
            self._refused = (text.split()[1].lower(), "unsupported", event.site)

    def on_forward_begin(self, event: Forward) -> None:
        self._inside = True

    def on_forward_end(self, event: Forward) -> None:
        self._inside = False
        root = self.session.objects.known_root(event.root)
        if event.error is not None or not event.grad or root is None:
            return
        if event.autocast is not None:
            self._within(event, root, event.autocast)
            return
        if event.dtypes:
            full = not any(dtype in _LOW for dtype in event.dtypes.values())
            lowerable = any(isinstance(m, _LOWERED) for m in (event.called or {}).values())
            self._outside[root] = full and lowerable and self._outside.get(root, True)
        self._last = (root, event.site)
        if self._refused is not None:
            device, dtype, site = self._refused
            self._refused = None
            parameter = next((p for p in walk.parameters(event.root) if p.is_floating_point()), None)
            if parameter is not None and (device != "cuda" or parameter.device.type == "cpu"):
                self._miss(event, root, "disabled", (device, dtype), parameter, site)

    def _within(self, event: Forward, root: int, region: tuple[str, str]) -> None:
        calls = self._calls.get((root, region), 0) + 1
        self._calls[root, region] = calls
        for reason in ("other-device", "float64"):
            known = self._misses.get((root, reason))
            if known is not None and known.region_device == region[0]:
                known.times += 1
        if calls & (calls - 1):
            return
        parameters = [p for p in walk.parameters(event.root) if p.is_floating_point()]
        devices = {p.device.type for p in parameters}
        if region[0] in devices and any(p.dtype != torch.float64 for p in parameters):
            self._in_effect.add(region[0])
        if not parameters or calls > 1:
            return
        if region[0] not in devices and "meta" not in devices:
            if len(devices) == 1 and not torch.is_autocast_enabled(next(iter(devices))):
                self._miss(event, root, "other-device", region, parameters[0], event.site)
        elif all(p.dtype == torch.float64 for p in parameters):
            self._miss(event, root, "float64", region, parameters[0], event.site)

    def on_loss_end(self, event: LossCall) -> None:
        if self._inside or self._last is None or not event.grad or not isinstance(event.value, torch.Tensor):
            return
        root, _ = self._last
        self._last = None
        if not self._outside.get(root) or not event.value.requires_grad:
            return
        region = autocast_region()
        if region is None or any(known == root for known, _ in self._calls):
            return
        known = self._misses.get((root, "loss-only"))
        if known is not None:
            known.times += 1
            return
        module = self.session.objects.module(root)
        parameter = (
            next((p for p in walk.parameters(module) if p.is_floating_point()), None) if module is not None else None
        )
        if module is not None and parameter is not None and parameter.device.type == region[0]:
            self._add(
                AutocastMiss(
                    root,
                    type(module).__name__,
                    type(module).__name__,
                    "loss-only",
                    *region,
                    parameter.device.type,
                    _name(parameter.dtype),
                    event.site,
                    1,
                    self.run.steps,
                )
            )

    def _miss(
        self, event: Forward, root: int, reason: str, region: tuple[str, str], parameter: torch.Tensor, site: int | None
    ) -> None:
        if (root, reason) in self._misses:
            return
        name = type(event.root).__name__
        self._add(
            AutocastMiss(
                root,
                name,
                name,
                reason,
                *region,
                parameter.device.type,
                _name(parameter.dtype),
                site,
                1,
                self.run.steps,
            )
        )

    def _add(self, miss: AutocastMiss) -> None:
        self._misses[miss.root, miss.reason] = miss
        self.run.modes.autocast_misses.append(miss)

    def refresh(self) -> None:
        # A region around networks of several devices is in effect for those of its own.
        kept = [
            m
            for m in self.run.modes.autocast_misses
            if m.reason not in ("other-device", "float64") or m.region_device not in self._in_effect
        ]
        # A network that entered a region after all was not left outside by mistake.
        inside = {root for root, _ in self._calls}
        self.run.modes.autocast_misses[:] = [m for m in kept if m.reason != "loss-only" or m.root not in inside]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
