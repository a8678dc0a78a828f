"""State of parametrisations that only a training forward fills, used before there was one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.utils.spectral_norm import SpectralNorm

from torchcaliper.run import walk
from torchcaliper.run.events import Forward
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record import UninitialisedState

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: Power iteration leaves u equal to W v normalised (cosine 1); training moves W a little away from it. Vectors drawn at
#: random have a cosine near 0 unless the layer has one or two outputs, where v against W^T u is asked as well.
_ALIGNED = 0.7
#: iterations after which the largest singular value is known well enough to be told
_ITERATIONS = 15


class Parametrisation(Instrument):
    """Keeps `run.modes.uninitialised`."""

    name = "parametrisation"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._settled: set[int] = set()  # roots that were looked at or had a training forward
        self._open: dict[int, list[UninitialisedState]] = {}

    def on_forward_end(self, event: Forward) -> None:
        number = self.session.objects.known_root(event.root)
        if number is None:
            return
        if number in self._settled:
            found = self._open.get(number)
            if found is not None:
                if event.training:
                    del self._open[number]
                else:
                    for state in found:
                        state.times += 1
            return
        self._settled.add(number)
        if event.training or event.error is not None:
            return
        found = []
        for path, module in walk.named_modules(event.root):
            for hook in module._forward_pre_hooks.values():
                if isinstance(hook, SpectralNorm):
                    sigma = _random_estimate(module, hook)
                    if sigma is not None:
                        name = f"{type(event.root).__name__}.{path}" if path else type(event.root).__name__
                        found.append(UninitialisedState(number, name, "spectral_norm", event.site, 1, *sigma))
        if found:
            self._open[number] = found
            self.run.modes.uninitialised.extend(found)
            self.session.judge_soon()


def _random_estimate(module: nn.Module, norm: SpectralNorm) -> tuple[float, float] | None:
    """(estimate, largest singular value) when u and v do not belong to the weight, else None."""
    with torch.no_grad():
        weight = norm.reshape_weight_to_matrix(getattr(module, norm.name + "_orig")).float()
        u, v = getattr(module, norm.name + "_u").float(), getattr(module, norm.name + "_v").float()
        if u.device.type == "meta":
            return None
        left, right = torch.mv(weight, v), torch.mv(weight.t(), u)
        cosine_left = float(torch.dot(u, left) / (left.norm() * u.norm()).clamp_min(1e-12))
        cosine_right = float(torch.dot(v, right) / (right.norm() * v.norm()).clamp_min(1e-12))
        random = cosine_left < _ALIGNED if weight.shape[0] > 2 else cosine_right < _ALIGNED
        if not random:
            return None
        estimate = float(torch.dot(u, left))
        for _ in range(_ITERATIONS):
            right = torch.mv(weight.t(), left / left.norm().clamp_min(1e-12))
            left = torch.mv(weight, right / right.norm().clamp_min(1e-12))
        return estimate, float(left.norm())
