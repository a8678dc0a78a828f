"""Probes: thin wrappers that turn a call of torch into an event. One file per part of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    """Put every probe in place."""
    from torchcaliper.run.probes import (
        averaging,
        backward,
        checkpointing,
        clip,
        construction,
        dropout,
        forward,
        gradient_mode,
        graph,
        initialisation,
        loader,
        loss,
        mode,
        optimizer,
        scaler,
        scheduler,
        state,
        swapping,
        warning,
    )

    for probe in (
        averaging,
        backward,
        checkpointing,
        clip,
        construction,
        dropout,
        forward,
        gradient_mode,
        graph,
        initialisation,
        loader,
        loss,
        mode,
        optimizer,
        scaler,
        scheduler,
        state,
        swapping,
        warning,
    ):
        try:
            probe.install(session)
        except Exception as error:
            session.fault(f"probe {probe.__name__.rpartition('.')[2]}", error)
