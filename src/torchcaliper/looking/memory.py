"""A memory snapshot of torch (`torch.cuda.memory._dump_snapshot`), read without running anything that is in it.

Imports no torch: the file may come from another machine.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchcaliper.errors import UsageError
from torchcaliper.report.bytes import size
from torchcaliper.report.layout import Style, columns, cut, printable, styled
from torchcaliper.report.terminal import clamped
from torchcaliper.report.wording import number, shown_path

_LARGEST = 10
_PLACE = re.compile(r"(.*?):(\d+)(.*)")
_LIBRARIES = ("site-packages", "dist-packages", "/torch/", "\\torch\\", "<frozen", "/lib/python3", "??")


@dataclass(slots=True)
class Holder:
    """Memory that one line has allocated and that is still in use."""

    place: str  # file:line and function; "" where no stack was recorded
    bytes: int = 0
    blocks: int = 0


@dataclass(slots=True)
class DeviceMemory:
    """One device. Bytes: `reserved` from the driver, `allocated` by tensors, the rest free in pieces."""

    device: int
    reserved: int = 0
    allocated: int = 0
    waiting: int = 0  # freed, but another stream may still use it
    rounding: int = 0  # allocated beyond what was asked for
    largest_free: int = 0
    free_pieces: int = 0
    idle_segments: int = 0  # bytes of segments that hold nothing: empty_cache() gives them back
    holders: list[Holder] = field(default_factory=list)

    @property
    def free(self) -> int:
        """Reserved and not in use."""
        return self.reserved - self.allocated - self.waiting


class _PlainUnpickler(pickle.Unpickler):
    """Reads numbers, texts, lists and dictionaries, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module}.{name}, which a memory snapshot has no need of")

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to data outside of itself")


def read_snapshot(path: str | Path) -> list[DeviceMemory]:
    """The devices of a snapshot file. UsageError when it is none, or holds anything but plain values."""
    try:
        data = _PlainUnpickler(io.BytesIO(Path(path).read_bytes())).load()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except Exception as error:  # whatever a file that is no pickle leads to
        raise UsageError(f"{path} is no memory snapshot: {error}") from None
    segments = data.get("segments") if isinstance(data, dict) else data
    if not isinstance(segments, list) or not all(isinstance(s, dict) and "blocks" in s for s in segments):
        raise UsageError(f"{path} is no memory snapshot: no segments in it")
    try:
        return _devices(segments)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no memory snapshot: {type(error).__name__}: {error}") from None


def _devices(segments: list[dict[str, Any]]) -> list[DeviceMemory]:
    devices: dict[int, DeviceMemory] = {}
    holders: dict[tuple[int, str], Holder] = {}
    for segment in segments:
        number_of = int(segment.get("device", 0))
        device = devices.setdefault(number_of, DeviceMemory(number_of))
        device.reserved += segment["total_size"]
        if not any(block["state"].startswith("active") for block in segment["blocks"]):
            device.idle_segments += segment["total_size"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                device.allocated += block["size"]
                device.rounding += block["size"] - block.get("requested_size", block["size"])
                place = _place(block)
                holder = holders.setdefault((number_of, place), Holder(place))
                holder.bytes += block["size"]
                holder.blocks += 1
            elif block["state"].startswith("active"):
                device.waiting += block["size"]
            else:
                device.free_pieces += 1
                device.largest_free = max(device.largest_free, block["size"])
    for (number_of, _), holder in holders.items():
        devices[number_of].holders.append(holder)
    for device in devices.values():
        device.holders.sort(key=lambda h: -h.bytes)
    return [devices[number_of] for number_of in sorted(devices)]


def _place(block: dict[str, Any]) -> str:
    """The innermost line of the user's that allocated a block, else the innermost Python line."""
    frames: list[dict[str, Any]] = block.get("frames") or []
    for earlier in block.get("history") or ():  # older releases
        frames = frames or earlier.get("frames") or []
    python = [f for f in frames if str(f.get("filename", "")).endswith((".py", ">"))]
    own = [f for f in python if not any(part in f["filename"] for part in _LIBRARIES)]
    found = (own or python)[:1]
    return f"{found[0]['filename']}:{found[0]['line']} {found[0].get('name', '')}".rstrip() if found else ""


def render_snapshot(devices: list[DeviceMemory], cwd: str, width: int, colour: bool) -> str:
    """The snapshot in words, with a line end."""
    width = clamped(width)
    lines = [] if devices else ["no memory is reserved"]
    for device in devices:
        lines.append(styled(f"device {device.device}", Style.BOLD, colour))
        lines.append(
            f"  {size(device.reserved)} reserved: {size(device.allocated)} allocated, {size(device.free)} free in "
            f"{number(device.free_pieces, 'piece')}, the largest {size(device.largest_free)}"
        )
        if device.waiting:
            lines.append(f"  {size(device.waiting)} freed, but still in use by another stream")
        if device.rounding > 0.05 * device.allocated:
            lines.append(f"  {size(device.rounding)} of what is allocated is rounding up of small requests")
        if device.free > 0.2 * device.reserved:
            lines.append(
                f"  {device.free / device.reserved:.0%} is free in pieces ({size(device.idle_segments)} in segments "
                "that hold nothing): PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
            )
        if device.holders:
            lines.append("  largest holders, by the line that allocated:")
        for holder in device.holders[:_LARGEST]:
            place = _shown(holder.place, cwd) or "no stack was recorded"
            head = f"    {size(holder.bytes):>10}  {number(holder.blocks, 'block'):<12} "
            lines.append(head + cut(printable(place), max(width - columns(head), 20)))
        if device.holders and not any(h.place for h in device.holders):
            lines.append("  (torch.cuda.memory._record_memory_history() before the program allocates records lines)")
    return "\n".join(lines) + "\n"


def _shown(place: str, cwd: str) -> str:
    """A place with its path relative to the working directory."""
    parts = _PLACE.fullmatch(place)
    return f"{shown_path(parts[1], cwd)}:{parts[2]}{parts[3]}" if parts is not None else place


def document(devices: list[DeviceMemory]) -> dict[str, Any]:
    """The snapshot as plain data for JSON."""
    return {"schema": 1, "subject": "memory", "devices": [dataclasses.asdict(d) for d in devices]}
