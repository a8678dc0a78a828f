"""The part of the record that holds what was measured of numbers: first non-finite values, dead units, update sizes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class NonFinite:
    """Where NaN or infinity first arose, in a loss or in its gradients."""

    #: what went wrong: "log", "division", "sqrt", "power", "exp", "softmax", "no_targets", "empty", "spread", "domain",
    #: "overflow", "unknown" (an operator whose inputs are not known), "input" (it came with the data), "parameter"
    #: (parameters held it already), "backward" (the values were finite and the derivative was not), "slope" (the
    #: same, inferred from what came after)
    kind: str
    operator: str  # "log", "div", "cross_entropy", ...
    site: int | None  # of the operator, else of the backward or the loss
    sure: bool = True  # the line is the operator's own
    in_gradient: bool = False  # the loss was finite
    bad: int = 0  # of the values that went in
    of: int = 0
    value: float = 0.0  # the worst of them
    dtype: str = ""  # of the operator's values
    root: int | None = None
    loss_site: int | None = None  # the loss function, where one was called
    backward_site: int | None = None
    step: int = 0
    loss: float = 0.0
    previous: float | None = None  # last finite loss before
    parameter: str = ""  # one that has a non-finite gradient
    stepped: bool = False  # an optimizer used such gradients
    skipped: bool = False  # a GradScaler left the step out
    before_scale: bool = False  # it is the loss's own, not that of the scale
    constant_site: int | None = None  # where a constant became infinite in float16, if such was seen
    ended: bool = False  # the program stopped at this loss without a backward


@dataclass(slots=True)
class LossHistory:
    """Values of the loss that went backward from one line, as far as they were seen."""

    site: int | None
    root: int | None = None
    optimizers: list[int] = field(default_factory=list)  # that stepped after it
    first: list[float] = field(default_factory=list)  # the first few
    recent: list[float] = field(default_factory=list)  # the last few finite ones
    largest: float = 0.0
    seen: int = 0
    non_finite: int = 0
    first_non_finite: int | None = None  # step


@dataclass(slots=True)
class SummedLoss:
    """A loss function that sums over its targets (reduction="sum")."""

    function: str
    site: int | None  # where its module was made, else where it is called
    call_site: int | None
    root: int | None
    values: int  # in the sum, at most


@dataclass(slots=True)
class UpdateRatio:
    """How large an optimizer's updates are against the weights they change; measured in deep looks."""

    optimizer: int
    lr: float = 0.0
    looks: int = 0
    #: per look: (step, median over weight matrices of |update| / |weight|)
    ratios: list[list[float]] = field(default_factory=list)
    example: str = ""  # the weight with the largest ratio
    largest: float = 0.0
    roots: list[int] = field(default_factory=list)
    skipped: int = 0  # weights that were zero


@dataclass(slots=True)
class Activation:
    """Units of one layer's activation over several looks."""

    parameter: int  # the weight of the layer before it
    function: str
    site: int | None  # where the activation is called
    units: int
    looks: int = 0
    window: int = 0  # looks that `dead` is over: the latest ones
    rows: int = 0  # samples in the window
    dead: int = 0  # units that gave the same zero or saturated value for each of them
    first_dead: int = 0  # in the first look
    window_step: int = 0  # of the window's first look
    last_step: int = 0
    optimizers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Symmetry:
    """A weight whose rows started all equal."""

    parameter: int
    rows: int
    zero: bool
    site: int | None = None  # where it was initialised
    function: str = ""
    looks: int = 0  # at which the rows were still equal
    gradients: int = 0  # ... and there was a gradient
    first_step: int = 0
    last_step: int = 0
    moved: bool = False
    gradient: bool = False  # a gradient that is not zero was there
    broken: bool = False  # they differ now


@dataclass(slots=True)
class GradientDepth:
    """Sizes of the gradients of a network's weights, from the input to the output, over deep looks."""

    root: int
    names: list[str] = field(default_factory=list)
    sites: list[int | None] = field(default_factory=list)
    looks: int = 0
    sizes: list[float] = field(default_factory=list)  # log10 of root mean squares, median over looks
    step: int = 0
    optimizers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ConstantOne:
    """A normalisation that gives 1 whatever it is given, and the parameters before it."""

    operator: str  # "div", "softmax"
    site: int | None
    parameters: list[int] = field(default_factory=list)
    looks: int = 0


@dataclass(slots=True)
class FaintGradient:
    """A weight whose gradient is rounding noise against those of the other weights."""

    parameter: int
    looks: int = 0  # in a row, up to the last
    ratio: float = 0.0  # the largest: its root mean square against the median of the others
    others: int = 0
    step: int = 0


@dataclass(slots=True)
class FirstLoss:
    """The first value of a classification loss of a network that has not been trained."""

    function: str
    site: int | None
    root: int | None
    classes: int
    value: float  # mean over its targets, without weights
    spread: float = 0.0  # standard deviation of the logits
    fresh: bool = True
    input_scale: float = 0.0  # largest value that went into the network
    scaled_site: int | None = None  # a multiplication or division that blows the logits up
    scaled_by: float = 1.0
    head: int | None = None  # the weight that is largest against its usual size
    head_site: int | None = None  # where it was initialised
    head_ratio: float = 0.0  # its size against the usual one


@dataclass(slots=True)
class LowPrecision:
    """A value that a half-precision type cannot hold."""

    #: "constant" (raised), "overflow", "angle" (spaced wider than an angle may be), "loss" (probabilities), "epsilon"
    #: (a step gave NaN), "lost_update" (rounded away), "underflow" (zero gradients)
    kind: str
    operator: str
    site: int | None
    dtype: str
    value: float = 0.0
    root: int | None = None
    step: int = 0
    message: str = ""
    times: int = 1
    optimizer: int | None = None
    shares: list[float] = field(default_factory=list)  # per look: of zero gradients, or of updates without effect


@dataclass(slots=True)
class Recomputation:
    """Calls of activation checkpointing from one line."""

    site: int | None
    function: str
    reentrant: bool
    preserved: bool  # preserve_rng_state
    calls: int = 0
    without_grad: int = 0  # reentrant, no input requires grad, and so the output did not
    parameters: list[int] = field(default_factory=list)  # trainable ones inside, as far as known
    whole: bool = False  # `parameters` are those of a module that encloses the checkpointed part
    root: int | None = None
    steps: int = 0
    random: int = 0  # looks in which random numbers were drawn inside from torch's generator
    random_python: int = 0  # ... from Python's or NumPy's
    dropout: str = ""
    buffers: list[str] = field(default_factory=list)  # written in the forward and once more in the recomputation
    buffer_site: int | None = None
    twice: int = 0  # looks in which they were
    batch_norm: bool = False
    first_step: int = 0


@dataclass(slots=True)
class AliasedWrite:
    """A write into memory that several elements share ("expanded"), or a snapshot that is no copy ("snapshot")."""

    kind: str
    operator: str
    site: int | None  # the write, or the comparison
    name: str = ""  # the parameter
    holder: str = ""  # the variable that keeps the snapshot
    made_site: int | None = None  # where the tensor was expanded, or the snapshot was bound
    shape: list[int] = field(default_factory=list)
    copies: int = 0  # elements that share one place
    times: int = 0
    steps: int = 0  # different steps in which it was seen
    step: int = 0
    last_step: int = 0


@dataclass(slots=True)
class Numerics:
    non_finite: list[NonFinite] = field(default_factory=list)
    losses: list[LossHistory] = field(default_factory=list)
    summed_losses: list[SummedLoss] = field(default_factory=list)
    updates: list[UpdateRatio] = field(default_factory=list)
    activations: list[Activation] = field(default_factory=list)
    symmetries: list[Symmetry] = field(default_factory=list)
    depths: list[GradientDepth] = field(default_factory=list)
    constants: list[ConstantOne] = field(default_factory=list)
    faint: list[FaintGradient] = field(default_factory=list)
    first_losses: list[FirstLoss] = field(default_factory=list)
    low_precision: list[LowPrecision] = field(default_factory=list)
    recomputations: list[Recomputation] = field(default_factory=list)
    aliased: list[AliasedWrite] = field(default_factory=list)
