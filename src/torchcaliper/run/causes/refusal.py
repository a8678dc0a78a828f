"""`torch.load` with weights_only refuses a file: which classes and functions it names, and what they are."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import torch

from torchcaliper.run.causes.scene import Scene

_MESSAGE = "Weights only load failed"
_NAMED = re.compile(
    r"(?:GLOBAL|Unsupported (?:global|class):?(?: GLOBAL)?) ([\w.]+)(?= was not an allowed global|\b)|"
    r"add_safe_globals\(\[([\w., ]+)\]\)"
)
#: files larger than this are not read a second time
_LARGEST = 20 * 2**30


def explain(scene: Scene) -> dict[str, Any] | None:
    if not scene.message.startswith(_MESSAGE):
        return None
    details: dict[str, Any] = {"cause": "refused", "globals": _named(scene.message)}
    loading = next(
        (p for p in scene.places if p.function == "load" and p.frame.f_code.co_filename.endswith("serialization.py")),
        None,
    )
    file = loading.frame.f_locals.get("f") if loading is not None else None
    if isinstance(file, str | os.PathLike):
        details["file"] = os.fspath(file)
        found = _in_file(os.fspath(file))
        if found:
            details["globals"] = found
    details["own"] = [name for name in details["globals"] if _is_users(scene, name)]
    return details


def _named(text: str) -> list[str]:
    found: list[str] = []
    for one, several in _NAMED.findall(text):
        found += [one] if one else [name.strip() for name in several.split(",")]
    return list(dict.fromkeys(name for name in found if "." in name))


def _in_file(path: str) -> list[str]:
    """All that the file names and torch does not allow; it is only read, nothing in it runs."""
    read = getattr(torch.serialization, "get_unsafe_globals_in_checkpoint", None)
    try:
        if read is None or os.path.getsize(path) > _LARGEST:
            return []
        return sorted(set(read(path)))
    except Exception:  # an old format, a file that is broken as well
        return []


def _is_users(scene: Scene, name: str) -> bool:
    module = name.rpartition(".")[0]
    if module == "__main__":
        return True
    while module:
        file = getattr(sys.modules.get(module), "__file__", None)
        if file:
            return scene.session.sites.is_user(file)
        module = module.rpartition(".")[0]
    return False
