"""D113: OpenCV's own threads in every worker."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.datasets import has_workers, loading
from torchcaliper.source.trace import Reading


class OpencvThreadsInWorkers(Rule):
    """cv2 is used in workers without `cv2.setNumThreads(0)`.

    ## What it finds
    Calls of `cv2` in the methods of a dataset that a loader with workers reads, where nothing in the program limits
    OpenCV's threads.

    ## Why it matters
    Each worker starts as many threads as there are cores. They fight for the cores, and after a fork OpenCV's pool can
    hang.

    ## Faulty
    ```python
    def __getitem__(self, i):
        return cv2.resize(cv2.imread(self.paths[i]), (224, 224))
    ```

    ## Sound
    ```python
    cv2.setNumThreads(0)
    ```

    ## When it is silent
    Without workers, and where `setNumThreads` is called anywhere in the file.

    ## References
    * https://docs.opencv.org/4.x/db/de0/group__core__utils.html
    """

    code = "D113"
    name = "opencv-threads-in-workers"
    severity = Severity.WARNING

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        if "setNumThreads" in reading.file.text:
            return
        for trace in reading.traces:
            for event in trace.events if "cv2" in reading.file.text else ():
                loader = loading(event) if event.full.startswith("cv2.") else None
                if loader is not None and has_workers(loader):
                    yield self.finding(
                        "OpenCV starts its own threads in every worker",
                        at=event.location,
                        evidence=[evidence("the loader is read here", loader.place.location)],
                        fix="cv2.setNumThreads(0) at the top of the program or in worker_init_fn",
                    )
                    return
