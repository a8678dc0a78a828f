"""Assertions about models, for tests of your own. Each leaves the model as it was, and fails with figures.

    from torchcaliper.testing import assert_causal, assert_trains

    def test_model():
        assert_causal(model, tokens)

The pytest plugin (`pytest --caliper`) watches every test: see `torchcaliper.testing.plugin`.
Importing this package imports no torch; the assertions do when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchcaliper.testing.dependence import assert_causal, assert_independent_samples
    from torchcaliper.testing.determinism import assert_deterministic_eval
    from torchcaliper.testing.gradients import assert_gradients
    from torchcaliper.testing.training import assert_trains

_MODULES = {
    "assert_causal": "dependence",
    "assert_deterministic_eval": "determinism",
    "assert_gradients": "gradients",
    "assert_independent_samples": "dependence",
    "assert_trains": "training",
}

__all__ = [
    "assert_causal",
    "assert_deterministic_eval",
    "assert_gradients",
    "assert_independent_samples",
    "assert_trains",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"torchcaliper.testing.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'torchcaliper.testing' has no attribute {name!r}")
