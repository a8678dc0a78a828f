"""Units of activation layers that give the same zero, or the same saturated value, for every sample seen.

Seen in close looks, of whatever way the activation is called. A unit is one of the outputs of the layer before it,
whose weight gives it its name.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import Operation, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.graph_lines import ACCUMULATE
from torchcaliper.run.record_numerics import Activation
from torchcaliper.run.transforms import is_transforming, node_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_RECTIFIERS = frozenset(("relu", "relu_", "relu6"))
#: the same where a bound is zero: names of the argument, and its place
_WITH_BOUND = {
    "hardtanh": ("min_val", 1),
    "clamp": ("min", 1),
    "clamp_min": ("min", 1),
    "clip": ("min", 1),
    "threshold": ("value", 2),
}
#: zero far below zero, and next to nothing before that
_SMOOTH = frozenset(("gelu", "silu", "mish"))
_NOTHING = 1e-6
_SIGMOIDS = {"tanh": 0.9999}
#: looks that the verdict is over, layers followed, and looks asked for when a layer seems to be dead
WINDOW, _LAYERS, _ASKED = 8, 256, 16
#: share of a layer's units that must seem dead for more looks to be asked for
_SUSPECT = 0.9
#: nodes between an activation and the weight before it
_REACH = 12
_PASS = (
    "View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Transpose", "Permute", "Clone", "Alias", "ToCopy",
    "NativeBatchNorm", "CudnnBatchNorm", "NativeLayerNorm", "NativeGroupNorm", "TBackward",
)  # fmt: skip
_LINEAR = {"AddmmBackward0": 2, "MmBackward0": 1, "LinearBackward0": 1}


class _Layer:
    __slots__ = ("looks", "record", "this_look")

    def __init__(self, record: Activation) -> None:
        self.record = record
        self.looks: deque[tuple[torch.Tensor, int, int]] = deque(maxlen=WINDOW)  # (live units, samples, step)
        self.this_look: tuple[torch.Tensor, int] | None = None


class Activations(Instrument):
    """Dead and saturated units."""

    name = "activations"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._layers: dict[int, _Layer] = {}
        self._seen: list[_Layer] = []
        self._asked = 0
        self._last_asked = 0

    def on_operation(self, event: Operation) -> None:
        name = event.name.rstrip("_")
        if not event.grad or not _is_activation(name, event) or is_transforming():
            return
        result = event.result
        if (
            type(result) is not torch.Tensor
            or result.layout is not torch.strided
            or result.dim() < 2
            or not result.requires_grad
            or not result.numel()
        ):
            return
        found = _weight_before(result)
        if found is None:
            return
        weight, channels_second = found
        number = self.session.objects.known_parameter(weight)
        if number is None:
            return
        layer = self._layers.get(number)
        dim = 1 if channels_second else result.dim() - 1
        units = result.shape[dim]
        if layer is None:
            if len(self._layers) >= _LAYERS:
                return
            record = Activation(number, name, event.site, units, window_step=self.session.step)
            layer = self._layers[number] = _Layer(record)
            self.run.numerics.activations.append(record)
        if units != layer.record.units:
            return
        with torch.no_grad():
            values = result.detach()
            others = [d for d in range(result.dim()) if d != dim]
            if name in _SIGMOIDS:
                edge = _SIGMOIDS[name]
                low, high = values.amin(others), values.amax(others)
                live = ~((low > edge) | (high < -edge))
            else:
                live = ~(values.amax(others) <= 0)  # NaN is not dead
        rows = result.numel() // units
        if layer.this_look is None:
            layer.this_look = (live, rows)
            self._seen.append(layer)
        else:  # called several times in one step: a unit lives if it does in any
            layer.this_look = (layer.this_look[0] | live, layer.this_look[1] + rows)

    def on_step_end(self, event: Step) -> None:
        if not self._seen:
            return
        seen, self._seen = self._seen, []
        number = self.session.objects.known_optimizer(event.optimizer)
        counts: list[torch.Tensor] = []
        for layer in seen:
            assert layer.this_look is not None
            live, rows = layer.this_look
            layer.this_look = None
            layer.looks.append((live, rows, self.session.step))
            any_live = torch.stack([one for one, _, _ in layer.looks]).any(0)
            counts.append(torch.stack((live.sum(), any_live.sum())))
        suspicious = False
        for layer, (now, ever) in zip(
            seen, torch.stack([c.to(counts[0].device) for c in counts]).tolist(), strict=True
        ):
            record = layer.record
            record.looks += 1
            if record.looks == 1:
                record.first_dead = record.units - now
            record.window = len(layer.looks)
            record.rows = sum(rows for _, rows, _ in layer.looks)
            record.dead = record.units - ever
            record.window_step = layer.looks[0][2]
            record.last_step = self.session.step
            if number is not None and number not in record.optimizers:
                record.optimizers.append(number)
            suspicious |= record.units - now >= _SUSPECT * record.units
        step = self.session.step
        if suspicious and self._asked < _ASKED and step >= self._last_asked + max(4, self._last_asked // 4):
            self._asked += 1
            self._last_asked = step
            self.session.look()


def _is_activation(name: str, event: Operation) -> bool:
    """Whether an operator is an activation that can die."""
    if name in _WITH_BOUND:
        keyword, place = _WITH_BOUND[name]
        bound = event.args[place] if len(event.args) > place else event.kwargs.get(keyword)
        return isinstance(bound, int | float) and bound == 0
    return name in _RECTIFIERS or name in _SMOOTH or name in _SIGMOIDS


def _weight_before(result: torch.Tensor) -> tuple[torch.Tensor, bool] | None:
    """The weight whose layer feeds an activation, and whether its units are the second dimension."""
    node = node_of(result)
    node = node.next_functions[0][0] if node is not None and node.next_functions else None
    turned = False
    for _ in range(_REACH):
        if node is None:
            return None
        name = node.name()
        if name in _LINEAR:
            weight = _leaf(node.next_functions[_LINEAR[name]][0])
            return (weight, turned) if weight is not None else None
        if name.startswith(("ConvolutionBackward", "MkldnnConvolution", "CudnnConvolution")):
            weight = _leaf(node.next_functions[1][0])
            return (weight, not turned) if weight is not None else None
        if name == "AddBackward0":  # a matrix product and its bias
            bias = node.next_functions[1][0]
            if bias is None or bias.name() != ACCUMULATE:
                return None
        elif not name.startswith(_PASS):
            return None
        if name.startswith(("Transpose", "Permute")):
            turned = not turned
        node = node.next_functions[0][0]
    return None


def _leaf(node: Any) -> torch.Tensor | None:
    """The parameter behind a transposition or a cast."""
    for _ in range(3):
        if node is None:
            return None
        if node.name() == ACCUMULATE:
            return node.variable  # type: ignore[no-any-return]
        node = node.next_functions[0][0] if node.next_functions else None
    return None
