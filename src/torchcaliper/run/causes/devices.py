"""Tensors on two devices meet in one operator: which one was left behind, and where it was made."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.causes.scene import Place, Scene, value, variables

_MESSAGES = (
    "Expected all tensors to be on the same device",
    "is not on the expected device",
    "indices should be either on",
    "Expected object of device type",
)
_TYPES = re.compile(r"Input type \(([\w.]+)\) and weight type \(([\w.]+)\) should be the same")
_DEVICES = re.compile(r"\b(?:cuda|cpu|mps|xpu|hpu|npu|meta|mtia)(?::\d+)?\b")


@dataclass
class _Seen:
    """A tensor that took part, and how the program calls it there."""

    tensor: torch.Tensor
    text: str
    place: Place
    expression: ast.expr | None = None
    owner: nn.Module | None = None  # the layer it is a parameter, buffer or attribute of
    kind: str = "tensor"  # "parameter", "buffer", "attribute", "tensor"


def explain(scene: Scene) -> dict[str, Any] | None:
    if not _is_mismatch(scene.message):
        return None
    details: dict[str, Any] = {"cause": "devices", "named": sorted(set(_DEVICES.findall(scene.message)))}
    seen = _seen(scene)
    devices = {str(s.tensor.device) for s in seen}
    if len(devices) < 2:
        return details
    main = _main_device(seen, devices)
    left = min((s for s in seen if str(s.tensor.device) != main), key=lambda s: _LIKELY.index(s.kind))
    others = [s for s in seen if str(s.tensor.device) == main]
    details.update(
        left=left.text,
        left_device=str(left.tensor.device),
        main_device=main,
        kind=left.kind,
        shape=list(left.tensor.shape),
        other=others[0].text if others else "",
    )
    details.update(_where(scene, left))
    return details


#: of several that were left behind: which one is the cause of the others (a network of its layers' parameters)
_LIKELY = ("attribute", "parameter", "buffer", "tensor")


def _is_mismatch(text: str) -> bool:
    types = _TYPES.search(text)
    if types is not None:
        # torch.cuda.FloatTensor and torch.FloatTensor; other pairs differ in dtype.
        return types.group(1).count(".") != types.group(2).count(".")
    return any(part in text for part in _MESSAGES)


def _seen(scene: Scene) -> list[_Seen]:
    """The tensors that took part: those written at the user's line, and those of the layer that raised."""
    found: dict[int, _Seen] = {}

    def add(seen: _Seen) -> None:
        # A number on the CPU goes with every device.
        if seen.tensor.dim() or seen.tensor.device.type != "cpu" or isinstance(seen.tensor, nn.Parameter):
            found.setdefault(id(seen.tensor), seen)

    for place in scene.places:
        if place.user:
            for node in scene.nodes(place):
                for part in ast.walk(node):
                    if isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                        _written(place, part, add)
            break
        layer = variables(place.frame).get("self")
        if isinstance(layer, nn.Module) and place.function in ("forward", "_conv_forward"):
            for name, parameter in layer._parameters.items():
                if parameter is not None:
                    add(_Seen(parameter, name, place, owner=layer, kind="parameter"))
            for name, buffer in layer._buffers.items():
                if buffer is not None:
                    add(_Seen(buffer, name, place, owner=layer, kind="buffer"))
    return list(found.values())


def _written(place: Place, part: ast.expr, add: Any) -> None:
    tensor = value(place.frame, part)
    if not isinstance(tensor, torch.Tensor):
        return
    seen = _Seen(tensor, ast.unparse(part), place, part)
    if isinstance(part, ast.Attribute):
        owner = value(place.frame, part.value)
        if isinstance(owner, nn.Module):
            seen.owner = owner
            seen.kind = (
                "parameter"
                if part.attr in owner._parameters
                else "buffer"
                if part.attr in owner._buffers
                else "attribute"
            )
    add(seen)


def _main_device(seen: list[_Seen], devices: set[str]) -> str:
    """Where everything was meant to be: on the accelerator; of two, where the parameters are."""
    away = sorted(d for d in devices if d != "cpu")
    if len(away) == 1:
        return away[0]
    counts = {d: sum(str(s.tensor.device) == d and s.kind == "parameter" for s in seen) for d in away}
    return max(away, key=lambda d: counts[d])


def _where(scene: Scene, left: _Seen) -> dict[str, Any]:
    """Where the tensor was made, and what it belongs to."""
    objects = scene.session.objects
    owner = left.owner
    if owner is not None and left.kind in ("parameter", "buffer"):
        root = _root(scene, owner)
        name = next((n for n, m in walk.named_modules(root) if m is owner), "")
        elsewhere = [p for p in walk.parameters(root) if p.device != left.tensor.device]
        path = ".".join(part for part in (type(root).__name__, name) if part)
        place = {"owner": path, "owner_class": type(owner).__name__, "whole": not elsewhere}
        if not elsewhere:
            made = objects.made(root)
            site = made[1] if made is not None else None
            stranger = _stranger(scene, root)
            return {**place, "made_site": site, "owner": type(root).__name__, "caller": stranger}
        made = objects.made(owner)
        return {**place, "made_site": made[1] if made is not None else None}
    if owner is not None and left.kind == "attribute" and isinstance(left.expression, ast.Attribute):
        site = scene.attribute(left.place, type(owner), left.expression.attr)
        return {"owner": type(owner).__name__, "attribute": left.expression.attr, "made_site": site}
    origin = scene.origins.of(left.tensor) if scene.origins is not None else None
    if origin is not None and origin.site is not None:
        return {"made_site": origin.site, "made_by": origin.name}
    return {"made_site": _bound(scene, left)}


def _root(scene: Scene, owner: nn.Module) -> nn.Module:
    """The outermost module whose forward the exception went through and that holds `owner`."""
    for place in reversed(scene.places):
        module = variables(place.frame).get("self")
        if isinstance(module, nn.Module) and any(m is owner for m in walk.modules(module)):
            return scene.session.objects.unwrap(module)
    return owner


def _stranger(scene: Scene, root: nn.Module) -> str:
    """The class of the network whose forward has called `root` without having it registered; "" for none."""
    for place in scene.places:
        module = variables(place.frame).get("self")
        if not isinstance(module, nn.Module) or place.function != "forward":
            continue
        if not any(m is root for m in walk.modules(module)) and not any(m is module for m in walk.modules(root)):
            return type(module).__name__
    return ""


def _bound(scene: Scene, left: _Seen) -> int | None:
    """The assignment that the tensor comes from, followed outwards through the arguments of the calls."""
    started = False
    expression = left.expression
    for place in scene.places:
        started = started or place is left.place
        if not started or not place.user:
            continue
        if expression is not None:
            site = scene.bound(place, expression)
            if site is not None:
                return site
            if isinstance(expression, ast.Subscript):
                site = scene.bound(place, expression.value)
                if site is not None:
                    return site
        # A parameter of this function: what does the caller call it?
        expression = None
        outer = next((p for p in scene.places[scene.places.index(place) + 1 :] if p.user), None)
        if outer is None:
            return None
        for node in scene.nodes(outer):
            for part in ast.walk(node):
                if isinstance(part, ast.Name | ast.Attribute) and value(outer.frame, part) is left.tensor:
                    expression = part
    return None
