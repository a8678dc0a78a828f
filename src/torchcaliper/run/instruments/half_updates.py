"""Steps in half precision: gradients that are zero since they are too small, updates that are rounded away, and
divisors that are zero."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.samples import spread
from torchcaliper.run.record_numerics import LowPrecision

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: parameters sampled per optimizer, evenly spread
_PARAMETERS = 16
_HALF = (torch.float16, torch.bfloat16)


class HalfUpdates(Instrument):
    """Gradients and updates in half precision."""

    name = "half_updates"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._before: dict[int, list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]] = {}
        self._records: dict[tuple[int, str], LowPrecision] = {}
        self._scaled = False

    def on_step_begin(self, event: Step) -> None:
        self._scaled |= event.scaler is not None
        if not self.session.deep or event.nested:
            return
        number = self.session.objects.known_optimizer(event.optimizer)
        if number is None:
            return
        with torch.no_grad():
            self._remember(event.optimizer, number)
            if not self._scaled and "float16" in self.run.protocol.autocast_dtypes:
                self._count_zeros(event.optimizer, number)

    def _remember(self, optimizer: Any, number: int) -> None:
        halves = [
            p
            for g in optimizer.param_groups
            if float(g.get("lr", 1.0)) > 0
            for p in g["params"]
            if p.dtype in _HALF and _has_plain_gradient(p)
        ]
        every = max(1, len(halves) // _PARAMETERS)
        self._before[number] = [(p, spread(p), spread(p.grad)) for p in halves[::every][:_PARAMETERS]]

    def _count_zeros(self, optimizer: Any, number: int) -> None:
        """Gradients that came through float16 and are zero throughout."""
        weights = [
            p
            for g in optimizer.param_groups
            for p in g["params"]
            if p.dtype is torch.float32 and p.dim() >= 2 and _has_plain_gradient(p) and not self._is_table(p)
        ]
        every = max(1, len(weights) // _PARAMETERS)
        chosen = weights[::every][:_PARAMETERS]
        if len(chosen) < 2 or len({w.device for w in chosen}) > 1:
            return
        shares = torch.stack([(spread(w.grad) == 0).float().mean() for w in chosen]).tolist()
        record = self._record(number, "underflow", "float16")
        if record is not None:
            record.shares.append(statistics.median(shares))

    def _is_table(self, parameter: torch.Tensor) -> bool:
        index = self.session.objects.known_parameter(parameter)
        return index is not None and self.run.ledger.parameters[index].module_class.startswith("Embedding")

    def on_step_end(self, event: Step) -> None:
        number = self.session.objects.known_optimizer(event.optimizer)
        before = self._before.pop(number, None) if number is not None else None
        if number is None or not before:
            return
        with torch.no_grad():
            flags = [
                torch.stack(
                    (
                        (old.isfinite().all() & gradient.isfinite().all()).float(),
                        spread(p).isfinite().all().float(),
                        ((spread(p) == old) & (gradient != 0)).float().mean(),
                        (gradient != 0).float().mean(),
                    )
                )
                for p, old, gradient in before
                if old.shape == gradient.shape
            ]
            if not flags:
                return
            measured = torch.stack([f.to(flags[0].device) for f in flags]).tolist()
        dtype = str(before[0][0].dtype).removeprefix("torch.")
        if any(was and not now for was, now, _, _ in measured):
            record = self._record(number, "epsilon", dtype)
            if record is not None:
                record.value = float(event.optimizer.param_groups[0].get("eps", math.nan))
                record.times += 1
            return
        lost = sum(same for _, _, same, _ in measured)
        given = sum(share for _, _, _, share in measured)
        if given > 0:
            record = self._record(number, "lost_update", dtype)
            if record is not None:
                record.value = max((float(g["lr"]) for g in event.optimizer.param_groups if "lr" in g), default=0.0)
                record.shares.append(lost / given)

    def _record(self, number: int, kind: str, dtype: str) -> LowPrecision | None:
        record = self._records.get((number, kind))
        if record is None and len(self._records) < 64:
            optimizer = self.run.ledger.optimizers[number]
            record = LowPrecision(kind, optimizer.name, optimizer.site, dtype, step=self.session.step, times=0)
            record.optimizer = number
            self._records[number, kind] = record
            self.run.numerics.low_precision.append(record)
        if record is not None:
            del record.shares[:-16]
        return record


def _has_plain_gradient(parameter: torch.Tensor) -> bool:
    gradient = parameter.grad if parameter.is_leaf and not parameter.is_meta else None
    return gradient is not None and gradient.layout is torch.strided and gradient.numel() > 0
