"""M109."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: measured in so many looks, on different batches
_TIMES = 2


class BatchFirstConfusion(Rule):
    """A recurrent or attention layer reads the batch axis as time.

    ## What it finds
    An `nn.LSTM`, `nn.GRU`, `nn.RNN`, `nn.MultiheadAttention` or `nn.Transformer...` layer that runs over the samples of
    a batch as if they were the steps of one sequence: `batch_first=False` (the default) with an input of
    (batch, time, features), or the other way round. It is measured: the output for one sample depends on others, and
    the layer is where they come in.

    ## Why it matters
    No shape is wrong, so nothing fails. The layer carries its state from sample to sample and never along a sequence:
    accuracy stays near chance, and a prediction changes with its neighbours in the batch.

    ## Faulty
    ```python
    self.lstm = nn.LSTM(32, 64)                         # wants (time, batch, features)
    out, _ = self.lstm(self.embed(ids))                 # gets (batch, time, features)
    ```

    ## Sound
    ```python
    self.lstm = nn.LSTM(32, 64, batch_first=True)
    out, _ = self.lstm(self.embed(ids))
    ```

    ## When it is silent
    `batch_first=False` with time first, as it should be; one sequence without a batch; packed sequences; where batch
    and time have the same size.

    ## References
    * [nn.LSTM: batch_first](https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html)
    * [nn.MultiheadAttention: batch_first](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html)
    """

    code = "M109"
    name = "batch-first-confusion"
    severity = Severity.ERROR
    explains = ("M107", "M117")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for mixing in run.dependence.mixings:
            culprit = mixing.culprit
            if culprit.family not in ("recurrent", "attention layer") or mixing.times < _TIMES:
                continue
            site = culprit.made_site if culprit.made_site is not None else culprit.site
            yield self.finding(
                "{layer} reads the batch as time: its state or attention runs over the {samples} samples of a batch.",
                at=run.at(site),
                evidence=[
                    evidence(
                        "called here; the gradient of one sample's output reaches {reached} other samples",
                        run.at(culprit.site),
                        reached=mixing.reached,
                    ),
                    evidence("measured at this loss, in {times} steps", run.at(mixing.site), times=mixing.times),
                ],
                fix="give batch_first=True to a layer that gets (batch, time, features), False (the default) to one "
                "that gets (time, batch, features); or transpose the input and the output",
                count=mixing.times,
                first_step=mixing.first_step,
                subjects=(f"root:{mixing.root}", f"site:{culprit.site}"),
                layer=culprit.layer or culprit.operator,
                samples=mixing.samples,
            )
