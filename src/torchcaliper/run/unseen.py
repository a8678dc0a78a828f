"""Working on the program's tensors without its modes, its tensor subclasses and its compiler taking notice."""

from __future__ import annotations

from types import TracebackType

import torch
from torch._C._dynamo.eval_frame import set_eval_frame


class unseen:
    """A context in which operators and attributes of tensors go neither through modes nor through `__torch_function__`.

    And Dynamo, which between the pieces of a compiled function compiles whatever is called there, leaves it alone.
    """

    __slots__ = ("_dispatch", "_dynamo", "_function")

    def __enter__(self) -> None:
        self._dynamo = set_eval_frame(None)
        self._dispatch = torch._C._DisableTorchDispatch() if torch._C._len_torch_dispatch_stack() else None
        if self._dispatch is not None:
            self._dispatch.__enter__()  # type: ignore[no-untyped-call]
        self._function = torch._C.DisableTorchFunction()
        self._function.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._function.__exit__(None, None, None)
        if self._dispatch is not None:
            self._dispatch.__exit__(None, None, None)
        set_eval_frame(self._dynamo)
