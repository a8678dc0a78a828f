"""M110."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_dependence import FutureRead

#: measured in so many looks, on different batches and positions
_TIMES = 2
_STRENGTH = 1e-4


class CausalLeak(Rule):
    """A network trained to predict the next step reads the steps it has to predict.

    ## What it finds
    The targets of the loss are the inputs moved by one step, and the output at a step depends on inputs after it:
    measured by a gradient from the output at one step back to all inputs. The mask is missing, has the wrong sense or
    is moved by one; a convolution is padded on both sides; a recurrent layer is bidirectional. Also targets that are
    the inputs themselves, not moved, where the network reads no later steps: it is asked for what it is shown.

    ## Why it matters
    The loss falls far below what is possible, in validation as well, and what is learnt is to copy the answer. When
    the network generates there is no answer to copy, and the text is noise.

    ## Faulty
    ```python
    h = self.encoder(self.embed(ids))
    loss = F.cross_entropy(self.head(h)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    ```

    ## Sound
    ```python
    mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
    h = self.encoder(self.embed(ids), mask=mask, is_causal=True)
    loss = F.cross_entropy(self.head(h)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    ```

    ## When it is silent
    Encoders and masked language models, whose targets are not the next step; prefix models, where only the prefix is
    read in both directions and is not predicted; attention to another sequence (encoder and decoder); losses that are
    not computed by a function of torch; sequences as long as the batch is large.

    ## References
    * [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.3
    * [scaled_dot_product_attention: is_causal](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
    """

    code = "M110"
    name = "causal-leak"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for read in run.dependence.future_reads:
            if read.times < _TIMES:
                continue
            if read.copies:
                yield self._copy(run, read)
            elif read.strength >= _STRENGTH:
                yield self._leak(run, read)

    def _copy(self, run: Run, read: FutureRead) -> Finding:
        return self.finding(
            "The targets are the inputs themselves, not the next ones: a network that reads each step is asked to "
            "give the same step back.",
            at=run.at(read.site),
            evidence=[
                evidence(
                    "the output at step {step} depends on the inputs up to step {step}, and on no later ones",
                    step=read.position,
                )
            ],
            fix="move the targets by one: predict ids[:, 1:] from ids[:, :-1]",
            count=read.times,
            first_step=read.first_step,
            subjects=(f"root:{read.root}", f"site:{read.site}"),
        )

    def _leak(self, run: Run, read: FutureRead) -> Finding:
        culprit = read.culprit
        made = culprit.family in ("recurrent", "convolution") and culprit.made_site is not None
        return self.finding(
            "The network is trained to predict the next step and reads it: the output at step {position} depends on "
            "{reached} later ones, by {operator}.",
            at=run.at(culprit.made_site if made else culprit.site),
            evidence=[
                evidence(
                    "later steps come in here, with {share:.0%} of the largest gradient of the steps so far",
                    run.at(culprit.site),
                    share=read.strength,
                ),
                evidence("the targets of this loss are the inputs one step later", run.at(read.site)),
            ],
            fix=_FIXES.get(culprit.family, _FIXES["attention"]),
            count=read.times,
            first_step=read.first_step,
            subjects=(f"root:{read.root}", f"site:{culprit.site}"),
            position=read.position,
            reached=read.reached,
            operator=culprit.layer if made else culprit.operator,
        )


_FIXES = {
    "mask": "hide what comes later: a boolean mask for masked_fill is True above the diagonal "
    "(torch.ones(n, n).triu(1).bool()); for scaled_dot_product_attention it is True where attention is allowed",
    "attention": "give the attention a causal mask (is_causal=True)",
    "convolution": "pad on the left only: F.pad(x, ((kernel - 1) * dilation, 0)), and no padding in the layer",
    "recurrent": "bidirectional=False: the backward direction reads what is to be predicted",
    "reduction": "take only the steps so far (a cumulative mean), not the whole sequence",
}
