"""DataLoaders being made and read."""

from __future__ import annotations

import sys
import weakref
from time import perf_counter  # the function itself: the program may put another in its place
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader
from torch.utils.data import dataloader as module

from torchcaliper.run.events import Batch, LoaderEpoch, LoaderMade
from torchcaliper.run.frames import locals_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


def install(session: Session) -> None:
    def before_making(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_name == "__init__" and locals_of(frame).get("self") is args[0]:
            frame = frame.f_back  # a loader class of the user's
        return args[0], session.site(frame)

    def made(call: Any, result: Any, error: BaseException | None) -> None:
        if error is None:
            session.emit("loader_made", LoaderMade(*call))

    session.patches.around(DataLoader, "__init__", before_making, made)

    # An iterator does not name its loader.
    loaders: weakref.WeakKeyDictionary[Any, weakref.ref[DataLoader[Any]]] = weakref.WeakKeyDictionary()

    def epoch(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        session.emit("loader_epoch", LoaderEpoch(args[0], session.site(sys._getframe(2))))
        return weakref.ref(args[0])

    def begun(loader: Any, result: Any, error: BaseException | None) -> None:
        if error is None:
            loaders[result] = loader

    session.patches.around(DataLoader, "__iter__", epoch, begun)

    def before_batch(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return args[0], perf_counter()

    def batch(call: Any, result: Any, error: BaseException | None) -> None:
        iterator, begin = call
        known = loaders.get(iterator)
        loader = known() if known is not None else None
        if error is None and loader is not None:
            session.rest.covers(("batch", id(loader)))
            session.emit("batch", Batch(loader, result, perf_counter() - begin))

    session.patches.around(module._BaseDataLoaderIter, "__next__", before_batch, batch)
