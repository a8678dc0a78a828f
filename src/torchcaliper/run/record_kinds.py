"""What the values are that losses and metrics are computed from. Plain data; see `instruments/kinds.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

#: kinds of a value, by what produced it
PROBABILITIES, LOG_PROBABILITIES, SIGMOID, LOG_SIGMOID = "probabilities", "log-probabilities", "sigmoid", "log-sigmoid"


@dataclass(slots=True)
class LossUse:
    """A loss function called at one line, with gradients."""

    name: str  # "cross_entropy", ...
    site: int | None
    root: int | None = None  # the network whose forward came before
    layer_site: int | None = None  # the line that constructed the loss, where it is a layer
    times: int = 0
    looks: int = 0  # calls whose arguments were looked at
    first_step: int = 0
    #: kind of the first argument -> looks in which it was of that kind; "" is none that is known
    kinds: dict[str, int] = field(default_factory=dict)
    kind_by_value: bool = False  # known from the values alone, since the operators are hidden
    dim: int | None = None  # of the softmax, as it was given
    made_site: int | None = None  # where the value of that kind was made
    made_by: str = ""  # function or layer
    input_shape: list[int] = field(default_factory=list)
    target_shape: list[int] = field(default_factory=list)
    result_numel: int = 0  # elements before the reduction, if the shapes broadcast to more than either had
    broadcasts: int = 0  # looks in which they did
    target_dtype: str = ""
    target_low: float | None = None
    target_high: float | None = None
    input_low: float | None = None  # smallest and largest value of the first argument seen
    input_high: float | None = None
    positive: int = 0  # looks in which the first argument held positive values
    reduction: str = ""
    log_target: bool = False
    first_value: float | None = None
    last_value: float | None = None
    weighted: bool = False  # weights, label smoothing, or a second loss: the value says little by itself
    backwards: int = 0  # backward passes that went through it (of those looked at)
    alone: int = 0  # of these, with nothing but sums between it and the root
    ignored: int = 0  # calls whose targets were all ignored
    empty: int = 0  # calls without any element
    broken_backwards: int = 0  # backward passes that such a call made NaN
    ignored_step: int | None = None
    not_finite: int = 0
    infeasible: int = 0  # CTC: samples whose input is too short for their target
    infeasible_lengths: list[int] = field(default_factory=list)  # input, needed

    def stood_at(self, form: str = ".3f") -> str:
        """The last value that was read, for a message."""
        return "?" if self.last_value is None else format(self.last_value, form)


@dataclass(slots=True)
class BroadcastFormula:
    """An elementwise operation of a loss formula that compares all pairs."""

    site: int | None
    function: str
    left: list[int]
    right: list[int]
    result: list[int]
    times: int = 0
    in_loss: int = 0
    first_step: int = 0
    root: int | None = None


@dataclass(slots=True)
class UnstableFormula:
    """A formula whose value or gradient overflows although what it stands for is finite."""

    site: int | None
    formula: str  # "log(softmax)", ...
    times: int = 0
    in_loss: int = 0
    infinite: int = 0  # values that were not finite, in the looks
    first_step: int = 0
    root: int | None = None


@dataclass(slots=True)
class WrongDim:
    """A softmax over the dimension of the samples."""

    site: int | None
    function: str
    dim: int
    shape: list[int]
    samples: int
    times: int = 0
    in_loss: int = 0
    chosen: int = 0  # times that samples were chosen by it, or that it went with one over another dimension
    first_step: int = 0
    root: int | None = None


@dataclass(slots=True)
class FlatArgmax:
    """An argmax over all elements of a matrix, compared with a vector of labels."""

    site: int | None
    shape: list[int]
    labels: list[int]
    times: int = 0
    root: int | None = None


@dataclass(slots=True)
class UnevenMean:
    """A metric that is the mean over batches of their means, where the last batch is smaller."""

    site: int | None  # where a batch's mean is added
    mean_site: int | None  # where they are averaged
    loader_site: int | None
    samples: int
    batch_size: int
    evaluation: bool
    times: int = 0


@dataclass(slots=True)
class Kinds:
    losses: list[LossUse] = field(default_factory=list)
    broadcasts: list[BroadcastFormula] = field(default_factory=list)
    formulas: list[UnstableFormula] = field(default_factory=list)
    softmaxes: list[WrongDim] = field(default_factory=list)
    argmaxes: list[FlatArgmax] = field(default_factory=list)
    means: list[UnevenMean] = field(default_factory=list)
