"""`torch.optim.swa_utils.AveragedModel`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.optim import swa_utils

from torchcaliper.run.events import AverageUpdated

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        model = args[1] if len(args) > 1 else kwargs.get("model")
        if not isinstance(model, nn.Module):
            return
        session.emit("average_updated", AverageUpdated(args[0], model, session.site(sys._getframe(2))))

    session.patches.around(swa_utils.AveragedModel, "update_parameters", before)
