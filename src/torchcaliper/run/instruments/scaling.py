"""Gradient scalers, and whether a loss carries a scale."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from torchcaliper.run.events import ScalerCall
from torchcaliper.run.record import Scaler
from torchcaliper.run.session import Session

#: mark in the metadata of the autograd node that scaled a loss
_MARK = "torchcaliper.scaled"
#: nodes walked from a loss in search of the mark
_NODES = 64
#: a clipping limit within this factor of the loss scale was multiplied by it: usual limits (0.1 to 10) are thousands
#: of times below a usual scale (65536)
_SCALED_LIMIT = 0.1


class Scaling:
    """Records the scalers and recognises losses they scaled."""

    def __init__(self, session: Session) -> None:
        self._run = session.run
        self._session = session
        self._known: dict[int, tuple[weakref.ref[Any], Scaler]] = {}
        self._last_step: dict[tuple[int, int], int | None] = {}  # (scaler, optimizer) stepped since update() -> site
        self._unmarked: dict[int | None, tuple[int, tuple[str, ...]]] = {}  # site -> (backwards there, their flags)
        self._limits: dict[int | None, bool] = {}
        self._active: weakref.ref[Any] | None = None

    def made(self, event: ScalerCall) -> Scaler:
        scaler = event.scaler
        record = Scaler(
            site=event.site, device=str(getattr(scaler, "_device", "cuda")), enabled=bool(scaler.is_enabled())
        )
        self._run.protocol.scalers.append(record)
        self._known[id(scaler)] = (weakref.ref(scaler), record)
        return record

    def _record(self, event: ScalerCall) -> Scaler:
        known = self._known.get(id(event.scaler))
        return known[1] if known is not None and known[0]() is event.scaler else self.made(event)

    def called(self, event: ScalerCall) -> None:
        """A method of an enabled scaler has returned or raised."""
        record = self._record(event)
        scaler = event.scaler
        if event.error is not None:
            self._refused(event, record)
            return
        if event.call == "scale":
            record.scales += 1
            if self._active is None or self._active() is not scaler:
                self._active = weakref.ref(scaler)
            _mark(event.outputs, scaler._init_scale != 1.0)
        elif event.call == "step":
            record.steps += 1
            self._last_step[id(scaler), id(event.optimizer)] = event.site
        elif event.call == "update":
            record.updates += 1
            self._last_step = {k: s for k, s in self._last_step.items() if k[0] != id(scaler)}

    def _refused(self, event: ScalerCall, record: Scaler) -> None:
        key = (id(event.scaler), id(event.optimizer))
        if record.scales == 0 and event.call in ("step", "unscale"):
            record.unused_site = event.site
        elif key in self._last_step and not record.refused_call:
            record.refused_call, record.refused_site = event.call, event.site
            record.refused_step_site, record.refused_step = self._last_step[key], self._session.step

    @property
    def is_active(self) -> bool:
        """Whether any loss was ever scaled."""
        return self._active is not None

    def flags(self, tensors: tuple[torch.Tensor, ...], site: int | None) -> tuple[str, ...]:
        """Whether the roots of a backward carry the scale: ("scaled",), ("maybe_scaled",) or ()."""
        scaler = self._active() if self._active is not None else None
        if scaler is None:
            return ()
        nodes: list[Any] = [t.grad_fn for t in tensors if t.grad_fn is not None]
        for node in nodes:
            if _MARK in node.metadata:
                return _told(node)
        looks, known = self._unmarked.get(site, (0, ()))
        looks += 1
        if looks & (looks - 1) == 0:
            known = self._search(nodes, tensors, scaler)
        self._unmarked[site] = (looks, known)
        return known

    def _search(self, nodes: list[Any], tensors: tuple[torch.Tensor, ...], scaler: Any) -> tuple[str, ...]:
        """Walk the graph from the roots in search of a scaled loss."""
        seen = set(nodes)
        for node in nodes:  # grows while it is walked
            if len(nodes) > _NODES:
                break
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    if _MARK in following.metadata:
                        return _told(following)
                    seen.add(following)
                    nodes.append(following)
        if any(_multiplied(t, scaler) for t in tensors):
            return ("scaled",)
        return ("maybe_scaled",) if len(nodes) > _NODES and self._behind_many(tensors) else ()

    @staticmethod
    def _behind_many(tensors: tuple[torch.Tensor, ...]) -> bool:
        """A sum of many losses hides the scaled ones behind a chain of additions."""
        return any(t.grad_fn is not None and t.grad_fn.name().startswith(("Add", "Sum", "Stack")) for t in tensors)

    def limit_is_scaled(self, site: int | None, limit: float) -> bool:
        """Whether a clipping limit was multiplied by the loss scale.

        The scale is read once per place: reading waits for the device.
        """
        known = self._limits.get(site)
        if known is None:
            scaler = self._active() if self._active is not None else None
            scale = float(scaler.get_scale()) if scaler is not None else 1.0
            for reference, record in self._known.values():
                if scaler is not None and reference() is scaler:
                    record.scale = scale
            known = self._limits[site] = limit >= _SCALED_LIMIT * scale
        return known

    def refresh(self) -> None:
        """Forget scalers that are gone."""
        self._known = {k: v for k, v in self._known.items() if v[0]() is not None}


def _told(node: Any) -> tuple[str, ...]:
    """A scale of 1 does no harm where it stays, and is no fault where it is missing."""
    return ("scaled",) if node.metadata[_MARK] else ("maybe_scaled",)


def _mark(outputs: Any, scales: bool) -> None:
    if isinstance(outputs, torch.Tensor):
        node: Any = outputs.grad_fn
        if node is not None:
            node.metadata[_MARK] = scales
    elif isinstance(outputs, list | tuple):
        for output in outputs:
            _mark(output, scales)


def _multiplied(tensor: torch.Tensor, scaler: Any) -> bool:
    """`loss * scaler.get_scale()`: the last multiplication holds the scale."""
    node = tensor.grad_fn
    if node is None or not node.name().startswith("MulBackward"):
        return False
    scale = float(scaler.get_scale())
    for name in ("_saved_other", "_saved_self"):
        factor = getattr(node, name, None)
        if isinstance(factor, torch.Tensor) and factor.numel() == 1 and float(factor.detach()) == scale != 1.0:
            return True
    return False
