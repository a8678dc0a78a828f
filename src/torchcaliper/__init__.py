"""Torchcaliper: measures what PyTorch really does and names silent faults at the user's line.

`watch()` is the library's door; the command line has more (`torchcaliper --help`). Importing this package imports no
torch; `watch` does when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchcaliper.findings import Evidence, Finding, Fix, Location, Severity, Text
from torchcaliper.version import __version__

if TYPE_CHECKING:
    from torchcaliper.run.watching import Watched, watch

__all__ = ["Evidence", "Finding", "Fix", "Location", "Severity", "Text", "Watched", "__version__", "watch"]


def __getattr__(name: str) -> Any:
    if name in ("watch", "Watched"):
        from torchcaliper.run import watching

        return getattr(watching, name)
    raise AttributeError(f"module 'torchcaliper' has no attribute {name!r}")
