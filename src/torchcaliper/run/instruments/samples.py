"""A few values of a tensor, kept to see later whether it has changed."""

from __future__ import annotations

import weakref

import torch

#: values looked at per tensor, spread over it: an update that misses all of them hardly changes the tensor
_VALUES = 64


def spread(tensor: torch.Tensor, values: int = _VALUES) -> torch.Tensor:
    """At most `values` elements of a dense tensor, evenly spread, as a copy on its own device."""
    with torch.no_grad():
        local = getattr(tensor, "to_local", None)  # DTensor (FSDP2): this rank's part
        plain = (local() if local is not None else tensor).detach()
        flat = plain.reshape(-1) if plain.is_contiguous() else plain.transpose(0, -1).reshape(-1)
        return flat[:: max(1, flat.numel() // values)][:values].clone()


class Sample:
    """Values of one tensor at one moment, and whether a gradient that is not zero stood beside them."""

    __slots__ = ("_flags", "_gradient", "_moved", "_reference", "_values")

    def __init__(self, tensor: torch.Tensor) -> None:
        self._reference = weakref.ref(tensor)
        self._values = spread(tensor)
        self._gradient = False
        self._moved = False
        self._flags: torch.Tensor | None = None  # on the host; an accelerator writes it when it gets there

    @property
    def alive(self) -> bool:
        return self._reference() is not None

    def look(self) -> tuple[bool, bool] | None:
        """(changed since the sample was taken, a non-zero gradient was seen at any look); None: not known.

        Never waits for an accelerator: there the answer is the one of the look before.
        """
        tensor = self._reference()
        answer: tuple[bool, bool] | None = None
        if self._flags is not None:
            moved, gradient = self._flags.tolist()
            self._moved |= bool(moved)
            self._gradient |= bool(gradient)
            answer = (self._moved, self._gradient)
        if tensor is None or tensor.is_meta:
            return answer
        with torch.no_grad():
            now = spread(tensor)
            if now.shape != self._values.shape or now.device != self._values.device:
                return None
            # NaN differs from itself, and a tensor of NaN would seem to move: two NaN count as equal
            moved_now = ((now != self._values) & ~((now != now) & (self._values != self._values))).any()
            grad = tensor.grad if tensor.is_leaf else None
            gradient_now = spread(grad).ne(0).any() if grad is not None and not grad.is_sparse else moved_now & False
            if moved_now.device.type == "cpu":
                self._moved |= bool(moved_now)
                self._gradient |= bool(gradient_now) or (grad is not None and grad.is_sparse)
                return (self._moved, self._gradient)
            flags = torch.stack((moved_now, gradient_now)).byte()
            host = torch.zeros(2, dtype=torch.uint8)
            if flags.device.type == "cuda":
                host = host.pin_memory()
            host.copy_(flags, non_blocking=True)
            self._flags = host
        return answer
