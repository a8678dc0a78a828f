"""A113: reentrant activation checkpointing of something whose inputs do not require grad."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import Recomputation

#: training steps before a verdict: the first may be a rehearsal
_STEPS = 2


class CheckpointWithoutGrad(Rule):
    """Reentrant activation checkpointing on inputs that do not require grad.

    ## What it finds
    `checkpoint(..., use_reentrant=True)` (the default where the argument is not given) called with gradients enabled on
    inputs of which none requires grad, around layers that are to be trained: raw data into the first block, or the
    output of a frozen embedding or backbone.

    ## Why it matters
    The reentrant variant looks at its inputs alone to decide whether a gradient is needed. It runs the block under
    `no_grad` and returns an output without a graph, so the layers inside never get a gradient. torch only warns.

    ## Faulty
    ```python
    model.embed.requires_grad_(False)
    h = checkpoint(layer, model.embed(tokens), use_reentrant=True)
    ```

    ## Sound
    ```python
    h = checkpoint(layer, model.embed(tokens), use_reentrant=False)
    ```

    ## When it is silent
    An input requires grad; the non-reentrant variant; gradients are disabled (evaluation); nothing inside is trainable.

    ## References
    * [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
    """

    code = "A113"
    name = "checkpoint-without-grad"
    severity = Severity.ERROR
    explains = ("A101", "A102", "A117", "M104", "O101", "O103", "O104", "O111")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for call in run.numerics.recomputations:
            failed = any(f.uncaught and "does not require grad" in f.message for f in run.failures)
            if not call.without_grad or (call.steps < _STEPS and not failed):
                continue
            starved = [
                i
                for i in call.parameters
                if (p := run.ledger.parameters[i]).trainable and not p.gradients and (p.looks or failed)
            ]
            if starved:
                yield self._tell(run, call, starved)

    def _tell(self, run: Run, call: Recomputation, starved: list[int]) -> Finding:
        parameters = run.ledger.parameters
        owners = list(dict.fromkeys(parameters[i].module for i in starved))
        optimizers = {o for i in starved for o in parameters[i].optimizers}
        return self.finding(
            "none of the inputs of this checkpointed call requires grad, so the reentrant variant cuts off the "
            "gradients of what is inside",
            at=run.at(call.site),
            evidence=(
                evidence(
                    "{without:,} of {calls:,} calls gave an output without a graph",
                    without=call.without_grad,
                    calls=call.calls,
                ),
                evidence(
                    "trainable, and without any gradient: {owners}",
                    owners=", ".join(owners[:4]) + (", ..." if len(owners) > 4 else ""),
                ),
            ),
            fix="pass use_reentrant=False (or make the input require grad: h.requires_grad_())",
            first_step=call.first_step,
            count=call.without_grad,
            subjects={
                *(f"parameter:{i}" for i in starved),
                *(f"optimizer:{o}" for o in optimizers),
                *(f"root:{r}" for i in starved if (r := parameters[i].root) is not None),
                f"site:{call.site}",
            },
        )
