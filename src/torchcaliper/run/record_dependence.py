"""The part of a run's record that says what outputs depend on: other samples, later inputs, padding."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Culprit:
    """The operator at which a dependence begins, found by measuring gradients before and after it."""

    operator: str  # "softmax", "view", "lstm", ...
    family: str  # "softmax", "mask", "recurrent", "attention", "convolution", "reshape", "norm", "product", "other"
    site: int | None  # the user's line that called it
    made_site: int | None = None  # the line that constructed its layer, where it belongs to one
    layer: str = ""  # class of that layer


@dataclass(slots=True)
class SampleMixing:
    """The output for one sample was found to depend on what other samples put in."""

    root: int | None
    samples: int  # size of the batch
    reached: int  # samples whose inputs moved the output of one of them, itself not counted
    strength: float  # largest gradient from another sample, as a share of the largest from the sample itself
    culprit: Culprit
    evidence: str  # how the batch is known: "loader", "targets"
    site: int | None = None  # of the loss
    times: int = 1
    first_step: int = 0


@dataclass(slots=True)
class FutureRead:
    """A network trained to predict the next step was found to read later steps, the one to be predicted among them."""

    root: int | None
    position: int  # the step whose output was looked at
    length: int
    reached: int  # later positions that moved it
    strength: float
    culprit: Culprit
    copies: bool = False  # targets are the inputs themselves, not shifted, and the network reads no later ones
    site: int | None = None  # of the loss
    times: int = 1
    first_step: int = 0


@dataclass(slots=True)
class PaddingRead:
    """Attention weights at padded keys, or rows in which everything is masked."""

    kind: str  # "attended", "inverted", "all-masked"
    root: int | None
    site: int | None
    rows: int  # samples with padding that were looked at
    share: float  # mean attention that padding gets
    masked: bool  # a mask was given
    made_site: int | None = None
    times: int = 1
    first_step: int = 0


@dataclass(slots=True)
class Regrouping:
    """A view or reshape whose new shape is the old one's with axes exchanged."""

    operator: str
    site: int | None
    root: int | None
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    kind: str = ""  # "exchanged", "heads", "rows", "batch"
    torn: bool = False  # an axis ends where no splitting of the old ones gives an end: it can only be a mixture
    moves_batch: bool = False  # the batch is among the axes exchanged
    times: int = 1
    first_step: int = 0


@dataclass(slots=True)
class Joining:
    """A cat or stack whose result is read along the wrong axis."""

    operator: str  # "cat" or "stack"
    site: int | None
    root: int | None
    kind: str  # "batch-multiplied", "batch-as-time"
    count: int = 0  # tensors joined
    shape: list[int] = field(default_factory=list)  # of one of them
    result: list[int] = field(default_factory=list)
    samples: int = 0
    layer: str = ""
    use_site: int | None = None
    times: int = 1
    first_step: int = 0


@dataclass(slots=True)
class Dependence:
    """What outputs depend on."""

    mixings: list[SampleMixing] = field(default_factory=list)
    future_reads: list[FutureRead] = field(default_factory=list)
    padding_reads: list[PaddingRead] = field(default_factory=list)
    regroupings: list[Regrouping] = field(default_factory=list)
    joinings: list[Joining] = field(default_factory=list)
