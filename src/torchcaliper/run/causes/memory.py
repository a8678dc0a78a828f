"""Out of memory: what the allocator says of itself, and who holds the most."""

from __future__ import annotations

import gc
import re
from typing import Any

import torch
from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.causes.scene import Scene, variables

_UNITS = {"bytes": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "KB": 1e3, "MB": 1e6, "GB": 1e9}
_SIZE = r"([\d.]+) (bytes|B|KiB|MiB|GiB|TiB|KB|MB|GB)"
_PATTERNS = {
    "requested": (rf"Tried to allocate {_SIZE}", rf"you tried to allocate {_SIZE}"),
    "capacity": (rf"total capacity (?:of|is) {_SIZE}", rf"{_SIZE} total capacity", rf"max allowed: {_SIZE}"),
    "free": (rf"of which {_SIZE} is free", rf"; {_SIZE} free"),
    "process": (rf"this process has {_SIZE} memory in use",),
    "allocated": (
        rf"{_SIZE} is allocated by PyTorch",
        rf"{_SIZE} already allocated",
        rf"currently allocated: {_SIZE}",
    ),
    "unused": (rf"{_SIZE} is reserved by PyTorch but unallocated",),
    "reserved": (rf"{_SIZE} reserved in total by PyTorch",),
}
_DEVICE = re.compile(r"\bGPU (\d+)|(?:XPU|NPU|MPS|HPU)\b")
_OTHER = re.compile(rf"Process (\d+) has {_SIZE} memory in use")
_ACCELERATOR = re.compile(r"\b(CUDA|HIP|XPU|MPS|NPU|HPU)\b[^.\n]{0,40}out of memory", re.IGNORECASE)
_HOST = ("DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory")
_LARGEST = 6


def figures(text: str) -> dict[str, Any] | None:
    """Bytes that an out-of-memory message names, and the device; None when it is no such message."""
    host = any(part in text for part in _HOST)
    accelerator = _ACCELERATOR.search(text)
    if not host and accelerator is None:
        return None
    found: dict[str, Any] = {}
    for name, patterns in _PATTERNS.items():
        for pattern in patterns:
            match = re.search(pattern, text)
            if match is not None:
                found[name] = int(float(match.group(1)) * _UNITS[match.group(2)])
                break
    if "reserved" in found and "allocated" in found and "unused" not in found:
        found["unused"] = max(found["reserved"] - found["allocated"], 0)
    elif "unused" in found and "allocated" in found:
        found.setdefault("reserved", found["allocated"] + found["unused"])
    found["others"] = sum(int(float(size) * _UNITS[unit]) for _, size, unit in _OTHER.findall(text))
    device = _DEVICE.search(text)
    number = device.group(1) if device is not None and device.group(1) else None
    if host:
        found["device"] = "cpu"
    elif accelerator is not None:
        kind = accelerator.group(1).lower().replace("hip", "cuda")
        found["device"] = f"{kind}:{number}" if number is not None else kind
    return found


def explain(scene: Scene) -> dict[str, Any] | None:
    found = figures(scene.message)
    if found is None:
        return None
    kind = found["device"].partition(":")[0]
    return {"cause": "memory", **found, "in_backward": _in_backward(scene), **_holders(scene, kind)}


def _in_backward(scene: Scene) -> bool:
    user = scene.user
    inner = scene.places[: scene.places.index(user)] if user is not None else scene.places
    return any(p.frame.f_code.co_filename.replace("\\", "/").endswith("torch/autograd/graph.py") for p in inner)


def _holders(scene: Scene, kind: str) -> dict[str, Any]:
    """Bytes of living tensors by what they are, and the largest ones by name."""
    tensors = [t for t in gc.get_objects() if issubclass(type(t), torch.Tensor)]
    names = _names(scene)
    by_kind: dict[str, int] = {}
    largest: list[tuple[int, str]] = []
    seen: set[int] = set()
    for tensor in tensors:
        size = _bytes(tensor, kind, seen)
        if not size:
            continue
        what, name = names.get(id(tensor), ("other tensors", ""))
        by_kind[what] = by_kind.get(what, 0) + size
        shape = "x".join(map(str, tensor.shape))
        largest.append((size, f"{name or what} [{shape}] {str(tensor.dtype).removeprefix('torch.')}"))
    largest.sort(reverse=True)
    return {"by_kind": by_kind, "largest": [[size, text] for size, text in largest[:_LARGEST]]}


def _bytes(tensor: torch.Tensor, kind: str, seen: set[int]) -> int:
    try:
        if tensor.device.type != kind or tensor.layout is not torch.strided:
            return 0
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if not address or address in seen:
            return 0
        seen.add(address)
        return storage.nbytes()
    except Exception:  # a subclass without memory of its own
        return 0


def _names(scene: Scene) -> dict[int, tuple[str, str]]:
    """id -> (kind, name) of what the program can name."""
    found: dict[int, tuple[str, str]] = {}
    for _, root in scene.session.objects.roots():
        for name, parameter in walk.named_parameters(root):
            whole = f"{type(root).__name__}.{name}"
            found[id(parameter)] = ("parameters", whole)
            if parameter.grad is not None:
                found[id(parameter.grad)] = ("gradients", f"gradient of {whole}")
        for buffer in walk.buffers(root):
            found[id(buffer)] = ("buffers", "")
    for _, optimizer in scene.session.objects.optimizers():
        for entries in list(optimizer.state.values()):
            if isinstance(entries, dict):
                for name, entry in entries.items():
                    if isinstance(entry, torch.Tensor):
                        found[id(entry)] = ("optimizer state", f"{type(optimizer).__name__}'s {name}")
    for place in scene.places:
        if place.user:
            for name, entry in variables(place.frame).items():
                if isinstance(entry, torch.Tensor) and not isinstance(entry, nn.Parameter):
                    found.setdefault(id(entry), ("other tensors", f"`{name}`"))
                elif type(entry) in (list, tuple):
                    for item in entry[:1000]:
                        if isinstance(item, torch.Tensor):
                            found.setdefault(id(item), ("other tensors", f"in `{name}`"))
    return found
