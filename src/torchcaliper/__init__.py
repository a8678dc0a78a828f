"""Torchcaliper: measures what PyTorch really does and names silent faults at the user's line.

`watch()` is the library's door; the command line has more (`torchcaliper --help`). Importing this package imports no
torch; `watch` does when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from torchcaliper.findings import Evidence, Finding, Fix, Location, Severity, Text
from torchcaliper.version import __version__

if TYPE_CHECKING:
    from torchcaliper.looking.graph import graph
    from torchcaliper.looking.operations import look
    from torchcaliper.looking.tensor import explain
    from torchcaliper.run.watching import Watched, watch

__all__ = [
    "Evidence",
    "Finding",
    "Fix",
    "Location",
    "Severity",
    "Text",
    "Watched",
    "__version__",
    "explain",
    "graph",
    "look",
    "watch",
]

#: what needs torch, and where it is
_LAZY = {
    "Watched": "run.watching",
    "explain": "looking.tensor",
    "graph": "looking.graph",
    "look": "looking.operations",
    "watch": "run.watching",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"torchcaliper.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'torchcaliper' has no attribute {name!r}")
