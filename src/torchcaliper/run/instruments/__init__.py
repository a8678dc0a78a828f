"""Instruments: what is measured of a run. One file per instrument."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    """Let every instrument hear its events."""
    import importlib

    for name, kind in (
        ("ledger", "Ledger"),
        ("survey", "Survey"),
        ("movement", "Movement"),
        ("cuts", "Cuts"),
        ("freezes", "Freezes"),
        ("initialisations", "Initialisations"),
        ("protocol", "Protocol"),
        ("schedulers", "Schedulers"),
        ("loaders", "Loaders"),
        ("modes", "Modes"),
        ("dropout", "Dropout"),
        ("parametrisation", "Parametrisation"),
        ("autocast", "Autocast"),
        ("lifetime", "Lifetime"),
        ("memory", "Memory"),
        ("copies", "Copies"),
        ("averages", "Averages"),
        ("failures", "Failures"),
        ("overwritten", "Overwritten"),
        ("nonleaf", "NonLeaf"),
        ("numerics", "Numerics"),
        ("updates", "Updates"),
        ("half_updates", "HalfUpdates"),
        ("activations", "Activations"),
        ("symmetries", "Symmetries"),
        ("recomputation", "Recomputation"),
        ("first_loss", "FirstLosses"),
        ("aliases", "Aliases"),
        ("dependence", "DependenceWatch"),
        ("reshapes", "Reshapes"),
        ("attention", "Attention"),
        ("kinds", "Kinds"),
        ("metrics", "Metrics"),
        ("origins", "Origins"),
        ("lost", "LostGraph"),
        ("loading", "Loading"),
        ("causes", "Causes"),
    ):
        try:
            module = importlib.import_module(f"torchcaliper.run.instruments.{name}")
        except ModuleNotFoundError:
            continue
        try:
            session.add(getattr(module, kind)(session))
        except Exception as error:
            session.fault(f"instrument {name}", error)
