"""D122."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run


class ForkAfterAcceleratorInit(Rule):
    """CUDA used in a forked worker.

    ## What it finds
    The failure "Cannot re-initialize CUDA in forked subprocess", told at the line that used CUDA inside the worker: a
    dataset, a collate function or a target function that makes or moves tensors on the device.

    ## Why it matters
    A CUDA context does not survive a fork. On Linux, DataLoader workers (and `multiprocessing.Process`) are forks.

    ## Faulty
        class Pictures(Dataset):
            def __getitem__(self, i):
                return self.pictures[i].cuda()

    ## Sound
        for x, y in DataLoader(Pictures(), num_workers=4, pin_memory=True):
            x = x.cuda(non_blocking=True)

    ## When it is silent
    As long as no worker fails.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing
    * https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
    """

    code = "D122"
    name = "fork-after-accelerator-init"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and failure.details.get("cause") == "forked":
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        used, parent = known.get("use_site"), known.get("parent_site", known.get("raised_site"))
        shown = [evidence("the worker's failure arrived here", run.at(parent))] if parent != used else []
        return self.finding(
            "{accelerator} is used here in {where}, a fork of a process that has used it already",
            at=run.at(used if used is not None else parent),
            evidence=shown,
            fix="Keep the workers on the CPU and move batches in the training loop (pin_memory=True, "
            ".to(device, non_blocking=True)); else multiprocessing_context='spawn'.",
            first_step=failure.step,
            accelerator=known["accelerator"],
            where=f"DataLoader worker {known['worker']}" if "worker" in known else "a worker",
        )
