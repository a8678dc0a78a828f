"""M111."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: seen in so many steps
_TIMES = 2
#: less attention than this is a mask of a finite value, not a mask left out
_SHARE = 1e-3


class AttentionMaskMisused(Rule):
    """Attention reads padding, or reads nothing else.

    ## What it finds
    Sequences of different lengths are padded to one, and the attention weights of real positions at padded ones are
    not zero: no mask reaches the attention, or a boolean mask has the wrong sense (True means *ignore* in
    `nn.MultiheadAttention` and `nn.Transformer...`, and *attend* in `scaled_dot_product_attention`). Also rows in
    which everything is masked, whose softmax is NaN; the last column taken for the last step of sequences padded at
    their end; ids padded in front and no mask, at evaluation, in a network that is trained with a mask.

    ## Why it matters
    The result for a sequence changes with the length of the others in its batch, so one by one, as in use, the network
    gives other answers than in training.

    ## Faulty
    ```python
    h = self.encoder(self.embed(ids))
    ```

    ## Sound
    ```python
    h = self.encoder(self.embed(ids), src_key_padding_mask=ids == PAD)
    ```

    ## When it is silent
    Batches whose sequences are all of one length; causal attention with padding at the end, which no real position can
    see; what padded positions themselves attend to; padding that is read by a convolution, a recurrent layer or a mean;
    where it cannot be told which ids are padding (no padding index, mask, lengths or `pad_sequence`, and no one id that
    fills the ends of rows of different lengths); rows of sorted values, at whose ends the least one stands by itself.

    ## References
    * [nn.MultiheadAttention: key_padding_mask](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html)
    * [scaled_dot_product_attention: attn_mask](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
    """

    code = "M111"
    name = "attention-mask-misused"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for read in run.dependence.padding_reads:
            if (read.times < _TIMES and read.kind != "left-out") or (read.kind == "attended" and read.share < _SHARE):
                continue
            yield self.finding(
                _MESSAGES[read.kind if read.kind != "attended" or not read.masked else "despite"],
                at=run.at(read.site),
                evidence=[
                    evidence(
                        "seen in {times} looks; {rows} samples of the first one hold padding",
                        run.at(read.site),
                        times=read.times,
                        rows=read.rows,
                    )
                ],
                fix=_FIXES[read.kind],
                count=read.times,
                first_step=read.first_step,
                subjects=(f"root:{read.root}", f"site:{read.site}"),
                share=read.share,
            )


_MESSAGES = {
    "attended": "Real positions give {share:.0%} of their attention to padding: no mask hides it.",
    "despite": "Real positions give {share:.0%} of their attention to padding, although a mask is given.",
    "inverted": "The mask is the wrong way round: real positions attend to padding only ({share:.0%}).",
    "last": "The last column is taken for the last step, but in {share:.0%} of the samples it is padding.",
    "left-out": "Padding stands in front of the ids, and no mask hides it, in a network that is trained with one.",
    "all-masked": "Everything is masked for some real positions, so their attention is NaN.",
}
_FIXES = {
    "attended": "pass the padding mask to the attention (src_key_padding_mask / key_padding_mask: True where padded; "
    "attn_mask of scaled_dot_product_attention: True where attended)",
    "inverted": "turn the mask round (~mask): True means ignore in nn.MultiheadAttention and nn.Transformer, and "
    "attend in scaled_dot_product_attention",
    "last": "take each row at its own last token: h[torch.arange(len(h)), lengths - 1]",
    "left-out": "pass the mask in evaluation and generation as well (attention_mask=...)",
    "all-masked": "leave at least one key unmasked in every row, or turn the mask round (~mask)",
}
