"""M111."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Location, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.generation import padded_prompts
from torchcaliper.source.masks import PADDING, REAL, fills_before_softmax, marks, token_ids
from torchcaliper.source.padding import made_from, padded_behind, unpadded_lengths_differ
from torchcaliper.source.steps import backwards, loss_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Collection, Constant, Symbol, Value, constant

#: seen in so many steps
_TIMES = 2
#: less attention than this is a mask of a finite value, not a mask left out
_SHARE = 1e-3
#: a score of this size hides nothing: exp(0.001) is 1.001
_TINY = 1e-3
#: scores below this are hidden for all that others are
_HIDDEN = -50.0
#: layers whose result at one position is read from all others
_ATTENTION = ("multi_head_attention", "transformerencoder", "transformerencoderlayer")


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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for finding, node in (
                *_fills(self, trace),
                *_turned(self, trace),
                *_left_out(self, trace),
                *_generates(self, trace),
            ):
                if node not in told:
                    told.add(node)
                    yield finding


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


def _fills(rule: AttentionMaskMisused, trace: Trace) -> Iterator[tuple[Finding, int]]:
    """Masks whose fill hides nothing, or that hide what is real."""
    ids = token_ids(trace)
    for fill in fills_before_softmax(trace):
        at = fill.place.location
        if 0 < abs(fill.value) < _TINY:
            yield (
                rule.finding(
                    "masked scores are set to {value:g}, which hides nothing: they keep their share of the attention",
                    at=at,
                    fix='float("-inf"), or torch.finfo(scores.dtype).min',
                    subjects=[f"mask:{at}"],
                    value=fill.value,
                ),
                id(fill.place.node),
            )
        elif fill.value <= _HIDDEN and marks(fill.mask, ids) == REAL:
            yield _is_turned(rule, fill.place.location, "masked_fill hides where the mask is True"), id(fill.place.node)


def _turned(rule: AttentionMaskMisused, trace: Trace) -> Iterator[tuple[Finding, int]]:
    """Boolean masks of the wrong sense for the function that they are given to."""
    ids = token_ids(trace)
    for event in trace.named(*_ATTENTION, "transformerdecoder", "transformerdecoderlayer", "transformer"):
        for name, mask in _options(event):
            if name.endswith("key_padding_mask") and marks(mask, ids) == REAL:
                yield _is_turned(rule, event.location, f"{name}: True means ignore"), id(event.node)
    for event in trace.named("transformer"):
        given = dict(_options(event))
        source = given.get("src_key_padding_mask")
        if isinstance(source, Symbol) and "memory_key_padding_mask" not in given and not event.arguments.open:
            yield (
                rule.finding(
                    "The decoder reads the source's padding: it is hidden from the encoder only.",
                    at=event.location,
                    fix="memory_key_padding_mask=... with the same mask as src_key_padding_mask",
                    subjects=[f"mask:{event.location}"],
                ),
                id(event.node),
            )
    for event in trace.named("scaled_dot_product_attention"):
        given_mask = event.value("attn_mask")
        if _is_boolean(given_mask) and marks(given_mask, ids) == PADDING:
            yield _is_turned(rule, event.location, "attn_mask of this function: True means attend"), id(event.node)


def _is_turned(rule: AttentionMaskMisused, at: Location, why: str) -> Finding:
    return rule.finding(
        "The mask is the wrong way round: real positions attend to padding only.",
        at=at,
        evidence=[evidence("{why}", why=why)],
        fix=_FIXES["inverted"],
        subjects=[f"mask:{at}"],
    )


def _is_boolean(mask: Value | None) -> bool:
    """Whether a mask is of booleans: as numbers it would be added to the scores."""
    while isinstance(mask, Symbol) and mask.inputs and mask.op in ("getitem", "unsqueeze", "expand", "view"):
        mask = mask.inputs[0]
    return isinstance(mask, Symbol) and mask.op in ("eq", "ne", "lt", "ge", "gt", "le", "invert", "bool")


def _options(event: Event) -> list[tuple[str, Value]]:
    made = event.result
    return list(made.options.items()) if isinstance(made, Symbol) else []


def _left_out(rule: AttentionMaskMisused, trace: Trace) -> Iterator[tuple[Finding, int]]:
    """Attention over padded ids without any mask; the last column read where rows end earlier."""
    behind = padded_behind(trace)
    if not trace.is_program or not behind:
        return
    for event in trace.named(*_ATTENTION):
        if event.context.grad is not False and _reads_padding(event):
            known = _mask_in_hand(trace)
            yield (
                rule.finding(
                    "Sequences are padded to one length, and no mask hides the padding from attention.",
                    at=event.location,
                    evidence=[evidence("a mask of the padding is handed over here", known)] if known else [],
                    # Without a mask in hand the lengths may all be one.
                    severity=None if known else Severity.WARNING,
                    fix=_FIXES["attended"],
                    subjects=[f"mask:{event.location}"],
                ),
                id(event.node),
            )
    for backward in backwards(trace):
        for made in made_from(loss_of(backward)):
            if _is_last_column(made) and made.place is not None and _ends_in_padding(made, behind):
                yield (
                    rule.finding(
                        "The last column is taken for the last step, but in rows that are padded it is padding.",
                        at=made.place.location,
                        fix=_FIXES["last"],
                        subjects=[f"mask:{made.place.location}"],
                    ),
                    id(made.place.node),
                )


def _reads_padding(event: Event) -> bool:
    """Whether attention reads the embeddings of padded ids, and is given no mask of any kind."""
    made = event.result
    if not isinstance(made, Symbol) or not made.inputs or event.arguments.open:
        return False
    if any("mask" in name or name == "is_causal" for name, _ in _options(event)):
        return False
    own = 3 if made.op == "multi_head_attention" else 1
    return len(made.inputs) <= own and _embeds_padded(made.inputs[min(own, 2) - 1 if len(made.inputs) > 1 else 0])


def _mask_in_hand(trace: Trace) -> Location | None:
    """Where a network is given a mask of the padding."""
    padded = {id(event.result) for event in trace.named("pad_sequence")}
    for event in trace.named("enter"):
        if any(marks(value, padded) is not None for value in event.arguments.all()):
            return event.location
    return None


def _embeds_padded(value: Value) -> bool:
    """Whether embeddings of padded ids are among what a value is made of."""
    for made in made_from(value):
        if made.op != "embedding" or not made.inputs:
            continue
        for source in made_from(made.inputs[0]):
            if source.op == "pad_sequence" and unpadded_lengths_differ(source):
                return True
    return False


def _is_last_column(made: Symbol) -> bool:
    index = made.options.get("index")
    if made.op != "getitem" or not isinstance(index, Collection) or len(index.items) not in (2, 3):
        return False
    first, second = index.items[:2]
    return isinstance(first, Constant) and first.value == slice(None) and constant(second) == -1


def _ends_in_padding(column: Symbol, behind: set[int]) -> bool:
    """Whether a column comes from attention over ids that are padded at their ends."""
    sources = list(made_from(column.inputs[0]))
    ops = {source.op for source in sources}
    if not ops & {*_ATTENTION, "scaled_dot_product_attention"} or ops & {"flip", "roll", "gather", "generate"}:
        return False
    conditions = {id(s.context.condition) for s in sources if s.context is not None and s.op in _ATTENTION}
    if column.context is not None and conditions and id(column.context.condition) not in conditions:
        return False
    embedded = [s.inputs[0] for s in sources if s.op == "embedding" and s.inputs]
    return any(id(source) in behind for ids in embedded for source in made_from(ids))


def _generates(rule: AttentionMaskMisused, trace: Trace) -> Iterator[tuple[Finding, int]]:
    """`generate` on padded prompts without their mask, where it cannot be made up from the ids."""
    for event in padded_prompts(trace):
        yield (
            rule.finding(
                "Prompts are padded, and generate() is not told where: their padding is read as text.",
                at=event.location,
                evidence=[evidence("padding has the number of the end token, so no mask can be made from the ids")],
                fix="attention_mask=...: 1 where the prompt is, 0 at padding",
                subjects=[f"mask:{event.location}"],
            ),
            id(event.node),
        )
