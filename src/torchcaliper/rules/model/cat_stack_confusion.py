"""M118."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_dependence import Joining


class CatStackConfusion(Rule):
    """`torch.cat` and `torch.stack` exchanged, or along the wrong axis.

    ## What it finds
    Tensors joined so that the batch is no longer what it was: `cat` along the batch axis where features were to be put
    side by side, so that there are several predictions for each target; `stack` of steps along axis 0 read by a layer
    that takes axis 0 for the batch (or samples stacked where it takes axis 0 for time).

    ## Why it matters
    At best a later shape does not fit. At worst all fit, and the network reads samples as time steps.

    ## Faulty
    ```python
    both = torch.cat([image_features, text_features])           # (2 * batch, features)
    ```

    ## Sound
    ```python
    both = torch.cat([image_features, text_features], dim=1)    # (batch, 2 * features)
    ```

    ## When it is silent
    Real and generated samples joined into one batch with targets for all; two views of each sample in contrastive
    learning; steps stacked time first for a layer that reads time first.

    ## References
    * [torch.cat](https://docs.pytorch.org/docs/stable/generated/torch.cat.html)
    * [torch.stack](https://docs.pytorch.org/docs/stable/generated/torch.stack.html)
    """

    code = "M118"
    name = "cat-stack-confusion"
    severity = Severity.WARNING
    explains = ("M109", "M107", "L109")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for join in run.dependence.joinings:
            if join.kind == "batch-multiplied":
                yield self._multiplied(run, join)
            elif any(
                m.times >= 2
                and m.culprit.site == join.use_site
                and m.culprit.family in ("recurrent", "attention layer")
                for m in run.dependence.mixings
            ):
                yield self._as_time(run, join)

    def _multiplied(self, run: Run, join: Joining) -> Finding:
        return self.finding(
            "{operator} of {parts} tensors of {shape} gives {result}: {parts} rows for each of the {samples} targets.",
            at=run.at(join.site),
            evidence=[evidence("the loss finds {samples} targets here", run.at(join.use_site), samples=join.samples)],
            fix="torch.cat(tensors, dim=1) puts features side by side; torch.stack(samples) makes a batch of samples",
            first_step=join.first_step,
            subjects=(f"root:{join.root}", f"site:{join.site}", f"site:{join.use_site}"),
            operator=join.operator,
            parts=join.count,
            shape=tuple(join.shape),
            result=tuple(join.result),
            samples=join.samples,
        )

    def _as_time(self, run: Run, join: Joining) -> Finding:
        return self.finding(
            "{operator} gives {result}, and {layer} reads the {samples} samples of the batch in it as time.",
            at=run.at(join.site),
            evidence=[evidence("read here", run.at(join.use_site))],
            fix="torch.stack(steps, dim=1) for a layer that reads (batch, time, features), dim=0 if time is first",
            first_step=join.first_step,
            subjects=(f"root:{join.root}", f"site:{join.site}", f"site:{join.use_site}"),
            operator=join.operator,
            result=tuple(join.result),
            layer=join.layer or "the layer",
            samples=join.samples,
        )
