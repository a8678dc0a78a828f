"""Many files: from the cache, in this process, or in several."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from torchcaliper.source.answer import Answer, Problem, packed, unpacked
from torchcaliper.source.cache import Asked, Cache, asked_of
from torchcaliper.source.checking import check_file
from torchcaliper.source.project import Project, mentions_torch

#: bytes of source for which one more process pays: it takes about as long to start as to read these
_WORTH_A_PROCESS = 150_000
#: parts per process: few enough that neighbours, which import the same files, stay together
_PARTS = 6

#: what one file gave: its absolute path, the answer packed, the imports that it depends on
Result = tuple[str, dict[str, Any], dict[str, Asked]]


def available_processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def answers(files: Iterable[Path], jobs: int, cache: Cache | None) -> Iterator[Answer]:
    """What is found in each file, in no certain order."""
    open_files: list[tuple[str, bytes]] = []
    for file in files:
        path = os.path.abspath(file)
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            yield Answer(problems=[Problem(path, 0, f"cannot be read: {error.strerror}")])
            continue
        if not mentions_torch(content):
            yield Answer(lines=content.count(b"\n"))
            continue
        known = cache.get(path, content) if cache is not None else None
        if known is not None:
            yield known
        else:
            open_files.append((path, content))
    for path, data, asked in _read(open_files, jobs):
        if cache is not None:
            cache.put(path, data, asked)
        yield unpacked(data)
    if cache is not None:
        cache.save()


def _read(files: list[tuple[str, bytes]], jobs: int) -> Iterator[Result]:
    size = sum(len(content) for _, content in files)
    jobs = min(jobs, 1 + size // _WORTH_A_PROCESS, len(files))
    if jobs <= 1:
        yield from _read_part([path for path, _ in files])
        return
    # Nothing that a fork could break is loaded here: no torch, no threads.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    import torchcaliper.judgement
    import torchcaliper.rule
    import torchcaliper.source.reading

    torchcaliper.rule.all_rules()  # once, before the fork
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for results in pool.map(_read_part, _parts(files, size / (jobs * _PARTS))):
            yield from results


def _parts(files: list[tuple[str, bytes]], size: float) -> list[list[str]]:
    parts: list[list[str]] = []
    filled = size
    for path, content in files:
        if filled >= size:
            parts.append([])
            filled = 0.0
        parts[-1].append(path)
        filled += len(content)
    return parts


_project: Project | None = None


def _read_part(paths: list[str]) -> list[Result]:
    global _project
    if _project is None:
        _project = Project()
    results: list[Result] = []
    # Trees and values live as long as the project: the collector would go through all of them again and again.
    gc.disable()
    for path in paths:
        try:
            content = Path(path).read_bytes()
            answer = check_file(Path(path), content, _project)
        except OSError as error:
            answer = Answer(problems=[Problem(path, 0, f"cannot be read: {error.strerror}")])
        results.append((path, packed(answer), asked_of(path, _project)))
    gc.freeze()
    gc.enable()
    return results
