"""How large updates are against the weights they change, and how gradients shrink or grow with depth."""

from __future__ import annotations

import math
import statistics
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.events import Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.samples import spread
from torchcaliper.run.record_numerics import FaintGradient, GradientDepth, UpdateRatio

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: weights sampled per optimizer, evenly spread, and looks whose ratios are kept
_WEIGHTS, _LOOKS = 16, 64
#: layers of a network in a line, at least and at most, and looks over which their gradients are compared
_SHALLOWEST, _DEEPEST, _DEPTH_LOOKS = 6, 512, 16
#: a gradient that small against the others is rounding
_FAINT = 1e-5
_LAYERS = (nn.Linear, nn.modules.conv._ConvNd, nn.RNNBase)


class Updates(Instrument):
    """Sizes of updates and gradients in deep looks."""

    name = "updates"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._records: dict[int, UpdateRatio] = {}
        self._before: dict[int, list[tuple[weakref.ref[torch.Tensor], torch.Tensor]]] = {}
        self._faint: dict[int, FaintGradient] = {}
        self._depths: dict[int, tuple[GradientDepth, list[list[float]]]] = {}

    def on_step_begin(self, event: Step) -> None:
        if not self.session.deep or event.nested:
            return
        number = self.session.objects.known_optimizer(event.optimizer)
        if number is None:
            return
        weights = [
            p
            for g in event.optimizer.param_groups
            for p in g["params"]
            if type(p.grad) is torch.Tensor and p.dim() >= 2 and p.is_leaf and not p.is_meta and p.is_floating_point()
        ]
        every = max(1, len(weights) // _WEIGHTS)
        self._before[number] = [(weakref.ref(w), spread(w)) for w in weights[::every][:_WEIGHTS]]
        self._measure_faint(weights)
        for root in {
            r
            for w in weights
            if (i := self._known(w)) is not None and (r := self.run.ledger.parameters[i].root) is not None
        }:
            self._measure_depth(root, number)

    def _known(self, parameter: torch.Tensor) -> int | None:
        return self.session.objects.known_parameter(parameter)

    def on_step_end(self, event: Step) -> None:
        number = self.session.objects.known_optimizer(event.optimizer)
        kept = self._before.pop(number, None) if number is not None else None
        before = [(w, old) for reference, old in kept or () if (w := reference()) is not None]
        if number is None or not before:
            self._before.clear()
            return
        record = self._records.get(number)
        if record is None:
            record = self._records[number] = UpdateRatio(number)
            self.run.numerics.updates.append(record)
        with torch.no_grad():
            pairs = [
                torch.stack(((spread(w) - old).float().norm(), old.float().norm()))
                for w, old in before
                if old.numel() == min(w.numel(), old.numel())
            ]
            sizes = torch.stack([p.to(pairs[0].device) for p in pairs]).tolist()
        ratios: list[tuple[float, torch.Tensor]] = []
        for (weight, _), (update, size) in zip(before, sizes, strict=True):
            if size == 0.0:
                record.skipped += 1
            elif math.isfinite(update) and math.isfinite(size):
                ratios.append((update / size, weight))
        record.looks += 1
        record.lr = max((float(g["lr"]) for g in event.optimizer.param_groups if "lr" in g), default=record.lr)
        if not ratios:
            return
        record.ratios.append([float(self.session.step), statistics.median(r for r, _ in ratios)])
        del record.ratios[_LOOKS // 2 : -_LOOKS // 2]
        largest, weight = max(ratios, key=lambda r: r[0])
        index = self._known(weight)
        if largest > record.largest:
            record.largest = largest
            record.example = self.run.ledger.parameters[index].name if index is not None else ""
        for weight, _ in before:
            index = self._known(weight)
            root = self.run.ledger.parameters[index].root if index is not None else None
            if root is not None and root not in record.roots:
                record.roots.append(root)

    def _measure_faint(self, weights: list[torch.Tensor]) -> None:
        """Weights whose gradient is nothing but rounding against the median of the others."""
        plain = [w for w in weights if not hasattr(w.grad, "to_local") and not w.grad.is_sparse]  # type: ignore[union-attr]
        kinds = {(w.device, w.dtype) for w in plain}
        if len(plain) < 3 or len(plain) > 2_000 or len(kinds) != 1 or plain[0].dtype is not torch.float32:
            return
        with torch.no_grad():
            norms = torch.stack(torch._foreach_norm([w.grad for w in plain], 2)).tolist()  # type: ignore[misc]
        sizes = [n / math.sqrt(w.numel()) for n, w in zip(norms, plain, strict=True)]
        middle = statistics.median(sizes)
        if not all(map(math.isfinite, sizes)) or middle <= 0:
            return
        for size, weight in zip(sizes, plain, strict=True):
            index = self._known(weight)
            if index is None:
                continue
            record = self._faint.get(index)
            if size > _FAINT * middle:
                if record is not None:
                    record.looks, record.ratio = 0, 0.0
                continue
            if record is None:
                record = self._faint[index] = FaintGradient(index)
                self.run.numerics.faint.append(record)
            record.looks += 1
            record.ratio = max(record.ratio, size / middle)
            record.others, record.step = len(plain), self.session.step

    # gradients over depth

    def _measure_depth(self, root: int, optimizer: int) -> None:
        module = self.session.objects.module(root)
        if module is None:
            return
        known = self._depths.get(root)
        layers = _in_line(module)
        if layers is None:
            return
        names = [name for name, _ in layers]
        if known is None or known[0].names != names:
            record = GradientDepth(root, names, [self._made(layer) for _, layer in layers])
            if known is not None:
                self.run.numerics.depths.remove(known[0])
            known = self._depths[root] = (record, [])
            self.run.numerics.depths.append(record)
        record, looks = known
        gradients: list[torch.Tensor] = []
        for _, layer in layers:
            weight: Any = layer._parameters.get("weight")
            if weight is None or type(weight.grad) is not torch.Tensor or weight.grad.is_sparse:
                return
            gradients.append(weight.grad)
        if len({(g.device, g.dtype) for g in gradients}) != 1:
            return
        wider = {"dtype": torch.float32} if gradients[0].dtype in (torch.float16, torch.bfloat16) else {}
        with torch.no_grad():
            norms = torch.stack(torch._foreach_norm(gradients, 2, **wider)).tolist()
        sizes = [n / math.sqrt(g.numel()) for n, g in zip(norms, gradients, strict=True)]
        if not all(math.isfinite(s) and s > 0 for s in sizes):
            return
        looks.append([math.log10(s) for s in sizes])
        del looks[:-_DEPTH_LOOKS]
        record.looks = len(looks)
        record.sizes = [statistics.median(column) for column in zip(*looks, strict=True)]
        record.step = self.session.step
        if optimizer not in record.optimizers:
            record.optimizers.append(optimizer)

    def _made(self, layer: nn.Module) -> int | None:
        made = self.session.objects.made(layer)
        return made[1] if made is not None else None


def _in_line(module: nn.Module) -> list[tuple[str, nn.Module]] | None:
    """Layers with a weight matrix in the order of their registration, where there are enough of them."""
    found: list[tuple[str, nn.Module]] = []
    for path, layer in walk.named_modules(module):
        if isinstance(layer, _LAYERS) and not isinstance(layer, nn.RNNBase):
            weight = layer._parameters.get("weight")
            if weight is not None and weight.requires_grad:
                found.append((path, layer))
                if len(found) > _DEEPEST:
                    return None
    return found if len(found) >= _SHALLOWEST else None
