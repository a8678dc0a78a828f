"""`torchcaliper.explain()`: one tensor, as it lies in memory and in the autograd graph."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from torchcaliper.report.bytes import size
from torchcaliper.run.instruments.origins import KEY


@dataclass(slots=True)
class Alias:
    """Another living tensor on the same storage."""

    name: str  # as a variable of the callers, where it is one
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    whole: bool  # the tensor that this one is a view of


@dataclass(slots=True)
class Explanation:
    """What is known of a tensor; `str()` says it in words.

    `storage` is the address of its memory and `storage_bytes` that memory's size, of which the tensor itself spans
    `bytes`. `offset` and `strides` count elements. `version` counts writes in place to it and to all its views.
    """

    shape: tuple[int, ...]
    dtype: str
    device: str
    layout: str
    strides: tuple[int, ...]
    offset: int
    contiguous: bool
    memory_format: str  # "contiguous", "channels_last", "transposed", "expanded", "strided", ...
    storage: int
    storage_bytes: int
    bytes: int
    aliases: list[Alias] = field(default_factory=list)
    version: int | None = None
    requires_grad: bool = False
    is_leaf: bool = True
    grad_fn: str = ""
    made_at: str = ""  # file:line and operator, where a watch or look saw it
    is_view: bool = False
    inference: bool = False
    has_grad: bool = False
    grad: str = ""  # what `.grad` is, or why it is None

    def __str__(self) -> str:
        return "\n".join(_lines(self)) + "\n"


def explain(tensor: torch.Tensor) -> Explanation:
    """Explain a tensor: memory, strides, who shares it, its place in the graph, and why `.grad` is None if it is.

    Nothing about the tensor changes. The search for other tensors on its storage goes through all living objects.
    """
    strided = tensor.layout is torch.strided
    storage, nbytes = _storage(tensor)
    result = Explanation(
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        layout=str(tensor.layout).removeprefix("torch."),
        strides=tuple(tensor.stride()) if strided else (),
        offset=int(tensor.storage_offset()) if strided else 0,
        contiguous=tensor.is_contiguous() if strided else False,
        memory_format=_format(tensor) if strided else "not strided",
        storage=storage,
        storage_bytes=nbytes,
        bytes=tensor.numel() * tensor.element_size(),
        version=None if tensor.is_inference() else tensor._version,
        requires_grad=tensor.requires_grad,
        is_leaf=tensor.is_leaf,
        is_view=not tensor.is_inference() and tensor._is_view(),
        inference=tensor.is_inference(),
    )
    node: Any = tensor.grad_fn
    if node is not None:
        result.grad_fn = node.name()
        site = node.metadata.get(KEY)
        if site is not None:
            result.made_at = f"{site[0]}:{site[1]} ({site[2]})"
    if storage:
        result.aliases = _aliases(tensor, storage, sys._getframe(1))
    _gradient(tensor, result)
    return result


def _storage(tensor: torch.Tensor) -> tuple[int, int]:
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError):  # sparse, functorch
        return 0, 0


def _format(tensor: torch.Tensor) -> str:
    if tensor.is_contiguous():
        return "contiguous"
    if any(step == 0 and length > 1 for step, length in zip(tensor.stride(), tensor.shape, strict=True)):
        return "expanded: several elements are one place in memory"
    if tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last):
        return "channels last"
    if tensor.dim() == 5 and tensor.is_contiguous(memory_format=torch.channels_last_3d):
        return "channels last"
    dense = sorted(zip(tensor.stride(), tensor.shape, strict=True), reverse=True)
    expected = 1
    for step, length in reversed(dense):
        if length > 1 and step != expected:
            return "with gaps: a part of a larger tensor"
        expected *= length
    return "axes permuted"


def _aliases(tensor: torch.Tensor, storage: int, frame: FrameType | None) -> list[Alias]:
    names: dict[int, str] = {}
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, torch.Tensor):
                names.setdefault(id(value), name)
        frame = frame.f_back
    found = []
    for other in gc.get_objects():
        kind = type(other)
        if other is tensor or not issubclass(kind, torch.Tensor):
            continue
        try:
            if other.layout is not torch.strided or other.untyped_storage().data_ptr() != storage:
                continue
            whole = not tensor.is_inference() and tensor._base is other
            found.append(
                Alias(
                    names.get(id(other), ""), tuple(other.shape), tuple(other.stride()), other.storage_offset(), whole
                )
            )
        except (RuntimeError, NotImplementedError):
            continue
    return found


def _gradient(tensor: torch.Tensor, result: Explanation) -> None:
    gradient = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
    if gradient is not None:
        result.has_grad = True
        result.grad = f"there: {list(gradient.shape)} {str(gradient.dtype).removeprefix('torch.')}"
    elif tensor.is_inference():
        result.grad = "None: it was made under inference_mode, which takes no part in autograd"
    elif not tensor.requires_grad:
        if not (tensor.is_floating_point() or tensor.is_complex()):
            result.grad = f"None: {result.dtype} has no gradient"
        else:
            result.grad = "None: it does not require grad, and was not computed from anything that does"
    elif not tensor.is_leaf:
        if tensor.retains_grad:
            result.grad = "None: retain_grad() was called, but no backward has come by since"
        else:
            result.grad = (
                f"None: it is no leaf ({result.grad_fn} made it); backward passes through it and keeps nothing. "
                "retain_grad() before backward keeps it"
            )
    else:
        result.grad = _leaf_without(tensor)


def _leaf_without(tensor: torch.Tensor) -> str:
    from torchcaliper.run import attach

    session = attach.current()
    number = session.objects.known_parameter(tensor) if session is not None else None
    if session is not None and number is not None:
        record = session.run.ledger.parameters[number]
        if record.gradients:
            return "None: it had a gradient before, which zero_grad (or the program) has cleared"
        if record.looks:
            return f"None: none of the {record.looks} backward passes since it is known has reached it"
    return (
        "None: no backward has reached it yet (nothing computed from it was in the loss), or zero_grad has cleared it"
    )


def _lines(known: Explanation) -> list[str]:
    where = f"{(known.storage_bytes and size(known.storage_bytes)) or 'no memory'} at {known.storage:#x}"
    lines = [
        f"{list(known.shape)} {known.dtype} on {known.device}" + (", made under inference_mode" * known.inference),
        f"memory     {where}; {size(known.bytes)} are its own elements, from element {known.offset}",
        f"strides    {known.strides} {known.memory_format}" + ("; a view" * known.is_view),
    ]
    if known.aliases:
        lines.append(f"shared     with {len(known.aliases)} other living tensors:")
        for alias in known.aliases[:8]:
            name = f"`{alias.name}` " if alias.name else ""
            what = "the tensor that it is a view of" if alias.whole else ""
            text = f"{name}{list(alias.shape)} strides {alias.strides} from element {alias.offset} {what}"
            lines.append("             " + text.rstrip())
    else:
        lines.append("shared     with no other living tensor")
    if known.version is not None:
        lines.append(f"version    {known.version}: writes in place so far, its views' included")
    position = "a leaf" if known.is_leaf else f"made by {known.grad_fn}"
    if known.made_at:
        position += f" at {known.made_at}"
    lines.append(f"graph      {position}, requires_grad={known.requires_grad}")
    lines.append(f"grad       {known.grad}")
    return lines
