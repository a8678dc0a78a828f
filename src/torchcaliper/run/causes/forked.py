"""CUDA used in a worker that was forked after the parent had used it."""

from __future__ import annotations

import re
from typing import Any

from torchcaliper.run.causes.scene import Scene

_MESSAGE = re.compile(r"Cannot re-?initialize (CUDA|XPU|HIP|\w+) in forked subprocess")
_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+), in (\S+)', re.MULTILINE)
_WORKER = re.compile(r"in DataLoader worker process (\d+)")


def explain(scene: Scene) -> dict[str, Any] | None:
    match = _MESSAGE.search(scene.message)
    if match is None:
        return None
    details: dict[str, Any] = {"cause": "forked", "accelerator": match.group(1)}
    worker = _WORKER.search(scene.message)
    if worker is not None:
        # The worker's traceback comes as text.
        details["worker"] = int(worker.group(1))
        sites = scene.session.sites
        for path, line, function in _FRAME.findall(scene.message):
            if sites.is_user(path):
                details["use_site"] = sites.number(sites.absolute(path), int(line), function)
        details["parent_site"] = scene.site(scene.user)
    else:
        details["use_site"] = scene.site(scene.user)
    return details
