"""What was known at the moment an exception came up: BatchNorm over one value, parameters not yet there."""

from __future__ import annotations

import re
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any

from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.events import Batch, Ended, Forward, LoaderMade
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.interruption import message
from torchcaliper.run.record import Failure

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_SINGLE_VALUE = re.compile(
    r"Expected more than 1 value per channel when training, got input size torch\.Size\((\[[\d, ]*\])\)"
)


class Failures(Instrument):
    """Fills `details` of the failures that a forward or the end of the program brings."""

    name = "failures"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._loaders: dict[int, tuple[weakref.ref[Any], int | None]] = {}
        self._batch: tuple[weakref.ref[Any], list[weakref.ref[Any]], int] | None = None

    def on_loader_made(self, event: LoaderMade) -> None:
        self._loaders[id(event.loader)] = (weakref.ref(event.loader), event.site)

    def on_batch(self, event: Batch) -> None:
        tensors = tensors_in(event.data, 4, 2)
        size = len(tensors[0]) if tensors and tensors[0].dim() else 0
        self._batch = (weakref.ref(event.loader), [weakref.ref(t) for t in tensors], size)

    def on_forward_end(self, event: Forward) -> None:
        if event.error is None:
            return
        failure = self._failure(event.error)
        match = _SINGLE_VALUE.search(failure.message) if failure is not None else None
        if match is None or failure is None or "batch_norm" in failure.details:
            return
        layer = (
            event.failed
            if isinstance(event.failed, nn.modules.batchnorm._BatchNorm)
            else _layer(event.error.__traceback__)
        )
        failure.details.update(
            {
                "batch_norm": self._path(event.root, layer),
                "input": match.group(1),
                "forward_site": event.site,
                "layer_site": self._innermost(event.error.__traceback__),
                "grad": event.grad,
                "root": self.session.objects.root(event.root),
            }
        )
        given = tensors_in((event.args, event.kwargs), 1)
        if given and given[0].dim() and len(given[0]) == 1 and self._batch is not None and self._batch[2] == 1:
            self._tell_loader(failure)

    def _tell_loader(self, failure: Failure) -> None:
        loader = self._batch[0]() if self._batch is not None else None
        if loader is None:
            return
        known = self._loaders.get(id(loader))
        try:
            samples: int | None = len(loader.dataset)
        except TypeError:
            samples = None
        failure.details.update(
            {
                "loader_site": known[1] if known is not None and known[0]() is loader else None,
                "batch_size": loader.batch_size,
                "samples": samples,
                "drop_last": bool(loader.drop_last),
            }
        )

    def on_ended(self, event: Ended) -> None:
        """An exception that passed no watched call: say at least which layer it came from."""
        if event.error is None:
            return
        failure = self._failure(event.error)
        match = _SINGLE_VALUE.search(message(event.error))
        if failure is not None and match is not None and "batch_norm" not in failure.details:
            layer = _layer(event.error.__traceback__)
            failure.details.update(
                {
                    "batch_norm": type(layer).__name__ if layer else "",
                    "input": match.group(1),
                    "forward_site": failure.site,
                }
            )

    def _failure(self, error: BaseException) -> Failure | None:
        text = message(error)
        return next((f for f in reversed(self.run.failures) if f.message == text), None)

    @staticmethod
    def _path(root: nn.Module, layer: nn.Module | None) -> str:
        if layer is None:
            return "a BatchNorm layer"
        path = next((name for name, module in walk.named_modules(root) if module is layer), "")
        kind = type(layer).__name__
        return f"{type(root).__name__}.{path} ({kind})" if path else kind

    def _innermost(self, trace: TracebackType | None) -> int | None:
        sites, site = self.session.sites, None
        while trace is not None:
            code = trace.tb_frame.f_code
            if sites.is_user(code.co_filename):
                site = sites.number(sites.absolute(code.co_filename), trace.tb_lineno, code.co_name)
            trace = trace.tb_next
        return site


def _layer(trace: TracebackType | None) -> nn.Module | None:
    """The BatchNorm whose own forward raised."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "forward" and code.co_filename.endswith("batchnorm.py"):
            found = trace.tb_frame.f_locals.get("self")
        trace = trace.tb_next
    return found if isinstance(found, nn.Module) else None
