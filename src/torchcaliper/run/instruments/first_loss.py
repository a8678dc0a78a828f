"""The first classification loss of a network that has not been trained, against what guessing gives."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.events import Forward, Initialised, LossCall
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.birth import read
from torchcaliper.run.instruments.graph_lines import SITE
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.record_numerics import FirstLoss
from torchcaliper.run.transforms import is_transforming

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: rows of logits looked at, loss lines, and tensors whose initialisation is remembered
_ROWS, _LINES, _TENSORS = 4_096, 16, 10_000
#: forwards whose inputs are measured: a program without an optimizer never takes its first step
_FORWARDS = 32
#: layers whose weights are compared with the usual size, the last ones
_LARGEST_OF = 200
_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
_FUNCTIONS = ("cross_entropy", "binary_cross_entropy_with_logits")


class FirstLosses(Instrument):
    """First losses."""

    name = "first_loss"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._seen: set[int | None] = set()
        self._root: int | None = None
        self._input_scale = 0.0
        self._forwards = 0
        self._initialised: dict[int, tuple[weakref.ref[torch.Tensor], int | None]] = {}

    def on_initialised(self, event: Initialised) -> None:
        if len(self._initialised) < _TENSORS:
            self._initialised[id(event.tensor)] = (weakref.ref(event.tensor), event.site)

    def on_forward_end(self, event: Forward) -> None:
        if self.session.step or not event.grad or event.error is not None or self._forwards >= _FORWARDS:
            return
        if is_transforming():
            return
        self._forwards += 1
        self._root = self.session.objects.known_root(event.root)
        self._input_scale = 0.0
        with torch.no_grad():
            for tensor in tensors_in((event.args, event.kwargs), 2):
                if (
                    tensor.is_floating_point()
                    and tensor.layout is torch.strided
                    and tensor.numel()
                    and not tensor.is_meta
                ):
                    self._input_scale = max(self._input_scale, float(tensor.detach().abs().amax().item()))

    def on_loss_end(self, event: LossCall) -> None:
        if event.function not in _FUNCTIONS or not event.grad or self.session.step or event.site in self._seen:
            return
        if len(self._seen) >= _LINES or len(event.args) < 2 or self._root is None or is_transforming():
            return
        self._seen.add(event.site)
        logits, target = event.args[0], event.args[1]
        if (
            type(logits) is not torch.Tensor
            or type(target) is not torch.Tensor
            or not logits.is_floating_point()
            or logits.layout is not torch.strided
        ):
            return
        measured = _measure(event.function, logits.detach(), target.detach())
        if measured is None:
            return
        value, spread, classes = measured
        record = FirstLoss(
            event.function, event.site, self._root, classes, value, spread, input_scale=self._input_scale
        )
        record.fresh = not any(p.loaded or p.gradients for p in self.run.ledger.parameters if p.root == self._root)
        self._find_scale(record, logits)
        self._find_largest(record)
        self.run.numerics.first_losses.append(record)

    @staticmethod
    def _find_scale(record: FirstLoss, logits: torch.Tensor) -> None:
        """A factor that blows the logits up on their last steps."""
        node: Any = logits.grad_fn
        for _ in range(6):
            if node is None:
                return
            name = node.name()
            if name in ("MulBackward0", "DivBackward0"):
                other = read(node, "other")
                if other is not None and other.numel() == 1 and float(other.item()):
                    factor = abs(float(other.item()))
                    factor = 1 / factor if name.startswith("Div") else factor
                    if factor > record.scaled_by:
                        record.scaled_by, record.scaled_site = factor, node.metadata.get(SITE)
            elif not name.startswith(("View", "UnsafeView", "Squeeze", "Transpose", "Permute", "Slice", "Clone")):
                return
            node = node.next_functions[0][0] if node.next_functions else None

    def _find_largest(self, record: FirstLoss) -> None:
        root = self.session.objects.module(record.root) if record.root is not None else None
        if root is None:
            return
        # A table of embeddings starts with numbers of size one, and may serve as the last layer.
        tables = {id(m._parameters.get("weight")) for m in walk.modules(root) if isinstance(m, nn.Embedding)}
        largest: tuple[float, nn.Module, torch.Tensor] | None = None
        layers: list[nn.Module] = [m for m in walk.modules(root) if isinstance(m, _LAYERS)]
        for layer in layers[-_LARGEST_OF:]:
            weight: Any = layer._parameters.get("weight")
            if weight is None or weight.is_meta or id(weight) in tables or hasattr(weight, "to_local"):
                continue
            usual = 1 / math.sqrt(3 * max(weight[0].numel(), 1))
            with torch.no_grad():
                ratio = float(weight.detach().float().pow(2).mean().sqrt().item()) / usual
            if largest is None or ratio >= largest[0]:
                largest = (ratio, layer, weight)
        if largest is None:
            return
        record.head_ratio, layer, weight = largest
        record.head = self.session.objects.known_parameter(weight)
        entry = self._initialised.get(id(weight))
        made = self.session.objects.made(layer)
        if entry is not None and entry[0]() is weight:
            record.head_site = entry[1]
        elif made is not None:
            record.head_site = made[1]


def _measure(function: str, logits: torch.Tensor, target: torch.Tensor) -> tuple[float, float, int] | None:
    """(mean loss, standard deviation of the logits, classes)."""
    with torch.no_grad():
        if function != "cross_entropy":
            if target.shape != logits.shape or not logits.numel():
                return None
            x, y = logits.reshape(-1)[:_ROWS].float(), target.reshape(-1)[:_ROWS].float()
            loss = torch.nn.functional.softplus(x) - x * y
            return float(loss.mean().item()), float(x.std(correction=0).item()), 1
        if target.is_floating_point() or logits.dim() < 2 or not logits.numel():
            return None
        classes = logits.shape[1]
        rows = logits.movedim(1, -1).reshape(-1, classes)[:_ROWS].float()
        wanted = target.reshape(-1)[:_ROWS]
        valid = (wanted >= 0) & (wanted < classes)
        if len(wanted) != len(rows) or not bool(valid.any().item()):
            return None
        rows, wanted = rows[valid], wanted[valid]
        loss = rows.logsumexp(1) - rows.gather(1, wanted[:, None].long()).squeeze(1)
        return float(loss.mean().item()), float(rows.std(correction=0).item()), classes
