"""M112."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run

_MESSAGE = "Expected more than 1 value per channel when training"


class BatchnormSingleSample(Rule):
    """BatchNorm in training mode given one value per channel.

    ## What it finds
    The failure "Expected more than 1 value per channel when training", told where it was made: at the DataLoader
    whose last batch holds a single sample, at the call that trains on one sample, or at the call that predicts for
    one sample without `eval()`.

    ## Why it matters
    The variance of one value is zero, so there is nothing to normalise by and PyTorch refuses. With a loader the
    program runs through the whole first epoch before it fails, and which dataset sizes fail depends on the batch size.

    ## Faulty
        loader = DataLoader(dataset, batch_size=32, shuffle=True)      # 321 samples: the last batch has one

    ## Sound
        loader = DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

    ## When it is silent
    As long as nothing fails: a last batch of one picture is accepted by BatchNorm2d, which still has its pixels.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html
    * https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "M112"
    name = "batchnorm-single-sample"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.message.startswith(_MESSAGE):
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        layer, shape = known.get("batch_norm") or "BatchNorm", known.get("input", "?")
        shown = [
            evidence(
                "{layer} got {shape} here", run.at(known.get("layer_site", failure.site)), layer=layer, shape=shape
            )
        ]
        call = known.get("forward_site", failure.site)
        samples, size = known.get("samples"), known.get("batch_size")
        site, fix = call, "Give it at least two samples, or leave batch normalisation out here (GroupNorm, LayerNorm)."
        if known.get("grad") is False:
            fix = "Call eval() on the model before it predicts; then BatchNorm uses its running statistics."
            shown.append(evidence("the forward ran without gradients, but in training mode", run.at(call)))
        elif known.get("loader_site") is not None and isinstance(size, int):
            site = known["loader_site"]
            shown.append(evidence("the batch of one sample reached the model here", run.at(call)))
            if size == 1:
                fix = "Use a batch_size of at least 2."
                shown.append(evidence("the loader's batch_size is 1"))
            elif isinstance(samples, int) and samples % size == 1 and not known.get("drop_last"):
                fix = "drop_last=True in the training loader"
                shown.append(_remainder(samples, size))
        return self.finding(
            "{layer} cannot normalise one value per channel: it was given {shape} in training mode",
            at=run.at(site),
            evidence=shown,
            fix=fix,
            first_step=failure.step,
            subjects=[f"root:{known['root']}"] if "root" in known else [],
            layer=layer,
            shape=shape,
        )


def _remainder(samples: int, size: int) -> Evidence:
    return evidence(
        "{samples} samples in batches of {size}: {full} full batches and a last one of a single sample",
        samples=samples,
        size=size,
        full=samples // size,
    )
