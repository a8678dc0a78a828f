"""The fork server: every selected proof is started at once, two at a time, and each test waits for its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

TIMEOUT = 120  # seconds; a proof takes less than three


def _run(path: Path, folder: Path) -> dict[str, Any]:
    from runner import run_proof

    context = multiprocessing.get_context("forkserver")
    answer = folder / f"{path.parent.name}-{path.stem}.json"
    process = context.Process(target=run_proof, args=(str(path), str(answer)))
    process.start()
    process.join(TIMEOUT)
    if process.is_alive():
        process.kill()
        raise TimeoutError(f"{path} ran for more than {TIMEOUT} s")
    if not answer.exists():
        raise RuntimeError(f"{path} left no answer (exit code {process.exitcode})")
    result: dict[str, Any] = json.loads(answer.read_text())
    return result


@pytest.fixture(scope="session")
def proofs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Path, Future[dict[str, Any]]]]:
    """The answers of all selected proofs, as futures."""
    here = str(Path(__file__).parent)
    if here not in sys.path:
        sys.path.insert(0, here)
    # The server does not look along our sys.path, and passes over what it cannot import.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    multiprocessing.get_context("forkserver").set_forkserver_preload(["runner"])
    folder = tmp_path_factory.mktemp("answers")
    pool = ThreadPoolExecutor(2)
    calls = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    paths = dict.fromkeys(parameters["proof"] for parameters in calls if "proof" in parameters)
    yield {path: pool.submit(_run, path, folder) for path in paths}
    pool.shutdown(cancel_futures=True)
