"""The record of a watched run: plain data, filled by instruments, judged by rules, saved and loaded as JSON.

Nothing here holds a tensor or a module. Objects of the program are numbered in order of appearance; places in the
user's code are numbered *sites*. Steps count optimizer steps of the busiest optimizer, from 0.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from torchcaliper.findings import Location
from torchcaliper.run.record_dependence import Dependence
from torchcaliper.run.record_kinds import Kinds
from torchcaliper.run.record_numerics import Numerics
from torchcaliper.run.record_state import States

#: the format of the saved record; a reader refuses another one
FORMAT = 1


@dataclass(slots=True)
class Program:
    """What was run."""

    argv: list[str] = field(default_factory=list)
    cwd: str = ""
    pid: int = 0
    started: float = 0.0
    python: str = ""
    torch: str = ""
    rank: int | None = None


@dataclass(slots=True)
class Site:
    """A place in the user's code: absolute path, line, name of the function (`<module>` at top level)."""

    path: str
    line: int
    function: str


@dataclass(slots=True)
class Failure:
    """An exception that came out of a watched call, or ended the program.

    `call` is the watched call it passed first (`backward`, `module`, `scaler.step`, ...; `program` for one that was
    seen only at the end). `site` is the user's line nearest to the error. `details` holds what the probes know of
    that moment (see `run/instruments/failures.py`).
    """

    call: str
    kind: str
    message: str
    site: int | None
    step: int
    uncaught: bool = False
    details: dict[str, Any] = field(default_factory=dict)


# --- ledger ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Parameter:
    """The life of one parameter of a trained network (or of an optimizer)."""

    name: str  # as in named_parameters(), behind the class of its root module: "Net.fc.weight"
    module: str  # path of the owning module: "Net.fc"
    module_class: str  # "Linear"
    shape: list[int]
    dtype: str
    role: str  # "weight", "bias" or "norm"
    root: int | None  # index into Ledger.roots; None when only an optimizer knows it
    registered: bool = True  # False: held by an optimizer, but by no module seen
    trainable: bool = True  # requires_grad when last looked at
    made: int = 0  # serial number of its making, comparable with Optimizer.made
    made_site: int | None = None
    optimizers: list[int] = field(default_factory=list)
    frozen_at: list[int] = field(default_factory=list)  # optimizers made while requires_grad was False
    called: bool = False  # its module was called in a training forward, grad enabled
    called_without_grad: bool = False  # its module was called in a training step with grad disabled
    gradients: int = 0  # looks at which a gradient was there
    looks: int = 0  # backward passes after which it was looked at
    first_gradient: int | None = None  # step
    moved: bool | None = None  # value differs from the one first seen (None: not compared)
    assigned_site: int | None = (
        None  # where its layer (or itself) is bound to its owner; filled for those without gradient
    )
    library: bool = False  # the class that owns its layer is not the user's; filled for those without gradient
    unused_part: str = ""  # path of the largest part of the network around it that never got a gradient
    loaded: bool = False  # its value was loaded or copied into it: a teacher, a target network, a pretrained part


@dataclass(slots=True)
class Root:
    """A module that the program calls itself (wrappers such as DDP and torch.compile taken off)."""

    name: str  # class name
    made: int = 0
    made_site: int | None = None
    call_site: int | None = None
    parameters: int = 0
    user_class: bool = True  # defined in the user's code
    dropout: list[str] = field(default_factory=list)  # paths of active dropout layers (p > 0)
    batch_norm: list[str] = field(default_factory=list)  # paths of BatchNorm layers with running statistics
    training_forwards: int = 0
    other_forwards: int = 0
    optimizers: list[int] = field(default_factory=list)  # optimizers that hold any of its parameters
    trained: bool = False  # a gradient reached one of its parameters
    part_of: int | None = None  # another root that holds it as a submodule


@dataclass(slots=True)
class ParameterGroup:
    """One parameter group as the optimizer was given it."""

    parameters: list[int]
    lr: float | None
    weight_decay: float | None
    site: int | None  # where the list was made, else the optimizer's own line


@dataclass(slots=True)
class Optimizer:
    name: str  # class name
    site: int | None
    made: int
    groups: list[ParameterGroup] = field(default_factory=list)
    decay_given: bool = False  # weight_decay was written by the user, not a default
    steps: int = 0
    stale: list[int] = field(default_factory=list)  # its parameters that left the model and got no gradient since
    looks: int = 0  # backward passes since it was made after which its parameters were looked at
    reached: int = 0  # ... and any of them had a gradient
    backward_site: int | None = None  # a backward that reached its parameters
    inputs_differentiated: bool = False  # an input of the forward required grad (saliency, adversarial samples)
    trained_mode: bool = False  # a forward of its parameters' module ran in training mode
    #: samples of its parameters compared over many steps: how many were compared, and how many did not change at all
    compared: int = 0
    unmoved: int = 0
    compared_steps: int = 0  # steps between the two looks
    gradient_seen: bool = False  # a non-zero gradient was there in between


@dataclass(slots=True)
class HiddenModules:
    """Layers with parameters that ran inside a root's forward but are not registered in it."""

    root: int
    owner: str  # class of the module that holds them
    holder: str  # "FeedForward.hidden_layers[0]"
    attribute: str  # "hidden_layers"; "" when the holder was not found
    container: str  # "list", "dict", "tuple", class name, ...
    modules: int
    parameters: int
    classes: list[str] = field(default_factory=list)
    site: int | None = None  # the assignment
    made_site: int | None = None  # where the first of them is built
    calls: int = 0
    gradients: bool = False  # gradients reach them
    trainable: bool = True
    optimized: bool = False  # some optimizer holds them
    moved: bool = False  # their values change all the same (updated by hand)
    loaded: bool = False  # a state was loaded into them: a pretrained part kept aside


@dataclass(slots=True)
class HiddenTensor:
    """A learnable tensor (a leaf requiring grad, or a Parameter in a container) that its module does not register."""

    root: int
    owner: str
    attribute: str
    holder: str
    shape: list[int]
    is_parameter: bool  # an nn.Parameter inside a plain container
    count: int = 1
    site: int | None = None
    gradients: bool = False
    optimized: bool = False
    moved: bool = False  # its values change all the same (updated by hand)
    leaf: bool = True  # False: made from a leaf by an operation (`Parameter(...).to(device)`), so it is none itself


@dataclass(slots=True)
class BuiltInForward:
    """Modules with parameters constructed while a forward was running."""

    root: int
    classes: list[str]
    site: int | None
    times: int = 0
    steps: int = 0  # different training forwards in which it happened
    forwards: int = 0  # training forwards of the root meanwhile
    first_step: int = 0
    constant: bool = False  # the values are the same each time: a fixed filter


@dataclass(slots=True)
class SharedLayer:
    """One module instance that stands several times in a registered container."""

    root: int
    container: str  # "Net.blocks"
    container_class: str
    layer_class: str
    times: int
    parameters: int
    site: int | None


@dataclass(slots=True)
class Copy:
    """Weights copied from one living module into another: by load_state_dict, or by a loop that writes in place."""

    target: int | None  # root index, where known
    source: int | None
    target_name: str  # as the program writes it: "self.target_net"
    source_name: str
    site: int | None
    times: int = 0
    first_step: int = 0
    loop: bool = False  # a loop over parameters; `times` then counts the close looks that saw it
    same_storage: bool = False  # source and target are the same memory: nothing is copied
    target_trained: bool = False  # an optimizer that steps holds its parameters
    source_trained: bool = False
    after_training: int = 0  # copies onto a target that one optimizer had stepped since the copy before
    source_called: int = 0  # copies before which the source had been called since the copy before
    source_changed: bool | None = None  # the source's values changed since the first copy (None: copied once)
    twin_trained: bool = False  # another module of the target's architecture is being trained
    alias_site: int | None = None  # where the second name was bound to the same memory
    alias_names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Average:
    """A module whose parameters follow a trained one's while its BatchNorm statistics stay as they were."""

    trained: int
    average: int
    buffers: int  # layers whose statistics stayed
    example: str  # path of the one that differs most
    site: int | None  # where the averaging is done, else where it is evaluated
    site_is_loop: bool = False
    trained_updates: int = 0  # batches the trained module's layer has seen
    average_updates: int = 0
    difference: float = 0.0  # of that layer's running means, in standard deviations of the trained one's
    evaluation_site: int | None = None
    evaluations: int = 0


@dataclass(slots=True)
class Initialisation:
    """A parameter initialised by the user's code more than once."""

    parameter: str
    calls: list[str]  # names of torch.nn.init functions, in order
    sites: list[int | None]
    breadth: list[int] = field(default_factory=list)  # how many tensors each of these lines initialises


@dataclass(slots=True)
class FreezeNote:
    """A freeze or mode change that was written and did not take effect."""

    kind: str  # "module-attribute", "undone-in-train", "train-never-called"
    root: int
    module: str
    site: int | None
    parameters: int = 0
    changed: bool = False  # the layers meant to be frozen did train
    detail: str = ""


@dataclass(slots=True)
class Cut:
    """A place where a value that depends on parameters left the graph."""

    operation: str  # "item", "detach", "data", "numpy", "tensor", "argmax", "no_grad", "requires_grad", ...
    site: int | None
    parameters: list[int] = field(default_factory=list)  # those that the cut value depended on
    times: int = 0
    first_step: int = 0
    in_loss: int = 0  # backward passes whose loss was computed from the cut value


@dataclass(slots=True)
class LeafLoss:
    """A backward whose root is a leaf: no parameter can be reached."""

    site: int | None  # the backward
    times: int = 0
    first_step: int = 0
    made_site: int | None = None  # where the leaf was made or switched on, when seen
    made_by: str = ""  # "tensor", "requires_grad", ...
    of: int = 0  # all backward passes at this line
    leaf: bool = True  # False: the loss has a graph, but it ends in tensors that are no parameters
    failed: bool = False  # backward raised, since nothing requires grad
    cuts: list[int] = field(default_factory=list)  # indices of the cuts it was computed from


@dataclass(slots=True)
class Ledger:
    parameters: list[Parameter] = field(default_factory=list)
    roots: list[Root] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    hidden_modules: list[HiddenModules] = field(default_factory=list)
    hidden_tensors: list[HiddenTensor] = field(default_factory=list)
    built_in_forward: list[BuiltInForward] = field(default_factory=list)
    shared_layers: list[SharedLayer] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    averages: list[Average] = field(default_factory=list)
    initialisations: list[Initialisation] = field(default_factory=list)
    freezes: list[FreezeNote] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    leaf_losses: list[LeafLoss] = field(default_factory=list)


# --- protocol ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Call:
    """One call of the training protocol.

    `kind`: "backward", "zero_grad", "clip", "scale", "unscale", "scaler_step", "step", "update", "scheduler".
    `flags`, by kind:
      backward: "scaled", "maybe_scaled" (it could not be told), "autocast" (inside an autocast region), "retain"
            (retain_graph), "closure", "by_hand" (gradients were set by the program itself, no backward call was seen)
      zero_grad: "cleared" (there were gradients and they are gone), "partly" (some of them), "in_place" (set to zero),
            "by_hand" (found cleared, no call was seen)
      clip: "value"/"norm", "no_gradient" (nothing to clip), "unlimited" (the limit is no limit), "scaled_limit" (the
            limit is as large as the loss scale)
      step: "no_gradient" (every gradient is None), "moved" (parameters changed nevertheless), "stale" (gradients are
            those of the last step), "accumulated" (a backward added to gradients that the last step had used),
            "scaler" (called by an enabled GradScaler's step), "unscaled" (gradients changed between backward and step),
            "untouched" (gradients of a scaled loss were compared and had not changed)
    `times` counts immediate repetitions (gradient accumulation); a block of calls that repeats is kept once.
    """

    kind: str
    site: int | None
    flags: list[str] = field(default_factory=list)
    times: int = 1

    def has(self, *flags: str) -> bool:
        """Whether it carries one of the flags."""
        return any(flag in self.flags for flag in flags)


@dataclass(slots=True)
class Pattern:
    """One order of calls between two steps of an optimizer (the step is last), how often and when it occurred."""

    optimizer: int
    calls: list[Call]
    count: int
    first_step: int
    last_step: int

    @property
    def step(self) -> Call:
        """The step that ends it."""
        return self.calls[-1]

    def places(self, kind: str) -> list[int]:
        """Indices of the calls of a kind."""
        return [i for i, call in enumerate(self.calls) if call.kind == kind]


@dataclass(slots=True)
class Scheduler:
    name: str
    site: int | None
    optimizer: int
    settings: dict[str, Any] = field(
        default_factory=dict
    )  # T_max, total_steps, milestones, step_size, gamma, mode, ...
    owned_by: int | None = None  # a SequentialLR/ChainedScheduler that steps it
    calls: int = 0
    step_site: int | None = None
    optimizer_steps_at_first_call: int | None = None
    optimizer_steps: int = 0  # of its optimizer since the scheduler was made
    steps_since_call: int = 0  # optimizer steps after the last call
    calls_between_steps: int = 0  # scheduler calls that directly followed another one without optimizer step between
    blocks: int = 0  # times an optimizer step followed a scheduler call
    skipped_by_scaler: bool = False  # a GradScaler skipped a step of its optimizer
    lr_first: float | None = None
    lr_last: float | None = None
    lr_peak: float | None = None
    lr_tiny_at: int | None = None  # optimizer steps (since it was made) when lr fell below 1e-4 of its peak for good
    turns: int = 0  # times lr went up after it had been going down
    first_call_site: int | None = None
    calls_before_first_step: int = 0  # calls until its optimizer made its first step
    started_at: int = 0  # last_epoch when made: not 0 for a resumed schedule
    called_conditionally: bool = False  # never stepped, but a call under a condition is written in the program
    replaced: bool = False  # a later scheduler of the same optimizer was made
    backwards: int = 0  # backward passes that reached its optimizer since the scheduler was made
    metrics: list[float] = field(default_factory=list)  # ReduceLROnPlateau: what step() was given, first 512
    losses: list[float | None] = field(
        default_factory=list
    )  # training loss (mean since the last call) beside each metric
    samples: list[int] = field(default_factory=list)  # samples evaluated without grad before each metric
    evaluation_losses: list[float | None] = field(default_factory=list)  # mean of loss calls without grad, beside each
    metrics_equal_loss: int = 0  # metrics that equal a mean, sum or last value of the loss calls before them


@dataclass(slots=True)
class Scaler:
    site: int | None
    device: str = ""
    enabled: bool = True
    scale: float | None = None  # looked up once, on suspicion
    scales: int = 0  # calls of scale()
    steps: int = 0
    updates: int = 0
    #: a call that torch refused because the optimizer was stepped before without update() in between
    refused_call: str = ""  # "step", "unscale"
    refused_site: int | None = None
    refused_step_site: int | None = None  # the step() before it
    refused_step: int = 0
    #: a step() or unscale_() that torch refused because no loss was ever scaled
    unused_site: int | None = None


@dataclass(slots=True)
class Loader:
    """A DataLoader."""

    site: int | None
    batch_size: int | None
    drop_last: bool
    samples: int | None  # len(dataset)
    length: int | None  # batches in an epoch
    epochs: int = 0  # iterations begun
    training_epochs: int = 0  # iterations within which an optimizer stepped
    training_steps: int = 0  # optimizer steps within them


@dataclass(slots=True)
class ZeroGradCall:
    """A place where zero_grad() is called, and what it cleared."""

    site: int | None
    owner: str  # class of the optimizer or module
    optimizer: int | None  # None: a module
    times: int = 0
    cleared: list[int] = field(default_factory=list)  # optimizers whose gradients it cleared at least once


@dataclass(slots=True)
class StrayClip:
    """Clipping of parameters that no optimizer holds."""

    site: int | None
    parameters: int  # 0: an empty list, such as an exhausted generator
    times: int = 0
    no_gradient: int = 0  # times none of them had a gradient
    first_step: int = 0


@dataclass(slots=True)
class PartialClip:
    """Clipping of a sum of gradients that was clipped before and has been added to since, within one step."""

    optimizer: int
    site: int | None
    backward_site: int | None
    steps: int = 0
    looks: int = 0  # norms compared with the limit
    exceeded: int = 0  # of them above it: gradients were scaled down
    limit: float = 0.0
    first_step: int = 0
    last_step: int = -1


@dataclass(slots=True)
class AutocastBackward:
    """backward() called inside an autocast region."""

    site: int | None
    device: str
    dtype: str
    times: int = 0
    first_step: int = 0


@dataclass(slots=True)
class UnsteppedBackward:
    """Gradients that reached an optimizer's parameters and were cleared again without a step."""

    optimizer: int | None  # None: no optimizer holds the parameters
    site: int | None
    times: int = 0
    moved: bool | None = None  # the parameters changed nevertheless
    scheduler_site: int | None = None  # a scheduler that was stepped in the meantime


@dataclass(slots=True)
class Protocol:
    patterns: list[Pattern] = field(default_factory=list)
    #: per optimizer, the calls since its last step (what a killed or finished run leaves open)
    open_calls: dict[str, list[Call]] = field(default_factory=dict)
    schedulers: list[Scheduler] = field(default_factory=list)
    scalers: list[Scaler] = field(default_factory=list)
    loaders: list[Loader] = field(default_factory=list)
    unstepped: list[UnsteppedBackward] = field(default_factory=list)
    zero_grads: list[ZeroGradCall] = field(default_factory=list)
    stray_clips: list[StrayClip] = field(default_factory=list)
    partial_clips: list[PartialClip] = field(default_factory=list)
    autocast_backwards: list[AutocastBackward] = field(default_factory=list)
    #: stretches of training between evaluations, and between calls of train() (both with two steps at least)
    evaluation_blocks: int = 0
    mode_blocks: int = 0
    #: statements `optimizer.zero_grad` without parentheses; looked for once gradients are seen to pile up
    uncalled_zero_grads: list[int] = field(default_factory=list)

    def by_optimizer(self) -> dict[int, list[Pattern]]:
        """The patterns of every optimizer that stepped."""
        found: dict[int, list[Pattern]] = {}
        for pattern in self.patterns:
            found.setdefault(pattern.optimizer, []).append(pattern)
        return found

    autocast_dtypes: dict[str, int] = field(default_factory=dict)  # dtype of autocast regions around training forwards


# --- modes -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ModeCall:
    """Calls of train()/eval() by the user, outermost only."""

    site: int | None
    root: int | None  # root index of the module it was called on, where known
    module: str
    training: bool
    times: int = 0
    first_step: int = 0


@dataclass(slots=True)
class ForwardKind:
    """Forwards of one root from one line under one state."""

    root: int
    site: int | None
    training: bool
    grad: bool  # grad mode enabled
    inference: bool
    autocast: str  # dtype, or "" outside
    calls: int = 0
    consumed: int = 0  # a backward or autograd.grad followed before the phase ended
    graph_kept: int = 0  # output required grad, and no backward ever followed
    longest_run: int = 0  # most such calls in a row without an optimizer step between
    runs: int = 0  # groups of such calls between two optimizer steps
    with_loader: int = 0  # calls whose batch came from a DataLoader since the last forward
    same_input: int = 0  # calls given the very tensor of the call before in their group
    mode_set: int = 0  # calls for which train()/eval() was called on it since the last optimizer step
    mode_site: int | None = None  # the mode call in force when it was first seen
    grad_site: int | None = None  # where grad was disabled, when known (with-statement, decorator, set_grad_enabled)
    loss_calls: int = 0  # loss functions evaluated on its output without grad
    feeds_training: int = 0  # its output entered a training forward or a loss with gradient
    first_step: int = 0
    last_step: int = 0
    steps: int = 0  # different step numbers at which it happened
    foreign_loader: int = 0  # calls without backward on batches of a DataLoader that no training forward was fed from
    fixed_input: int = 0  # groups given an input that an earlier group was given too and no training forward ever was
    direct_loss: int = 0  # calls with gradient whose output went straight into a loss
    chained: int = 0  # calls whose output went straight into another root
    train_after: int = 0  # groups after which the calling function itself, below the call, called train()
    layers: list[str] = field(default_factory=list)  # dropout and BatchNorm layers in training mode when first seen


@dataclass(slots=True)
class RootTraining:
    """How a root was trained: steps of optimizers that hold its parameters, after a backward through its forward."""

    root: int
    optimizers: list[int] = field(default_factory=list)  # those that hold trainable parameters of it and stepped
    steps: int = 0  # of them, by the root's mode in the forward that was differentiated
    evaluation_steps: int = 0


@dataclass(slots=True)
class DisabledTraining:
    """A backward that failed because the forward before it ran with gradients disabled."""

    root: int
    forward_site: int | None
    guard_site: int | None  # the with statement, decorator or set_grad_enabled call, when known
    backward_site: int | None
    how: str  # "no_grad" or "inference_mode"
    message: str
    step: int = 0
    times: int = 0


@dataclass(slots=True)
class StuckMode:
    """Training steps done in evaluation mode after eval() was called and not undone."""

    root: int
    site: int | None  # the eval() call
    forward_site: int | None
    steps: int = 0
    first_step: int = 0
    earlier_training: bool = False  # train() was called, or steps were done in training mode, before
    evaluated_between: bool = False  # the eval() was followed by a forward that no backward consumed
    layers: list[str] = field(default_factory=list)
    evaluations: int = 0  # how often that eval() was followed by such a forward
    pretrained: bool = False  # its weights were loaded, or it came as a whole from a file or copy


@dataclass(slots=True)
class RandomInEvaluation:
    """F.dropout or attention dropout that is active inside a module in evaluation mode."""

    function: str
    site: int | None
    module: str
    p: float
    explicit: bool  # training=True was written
    times: int = 0
    first_step: int = 0
    mode_given: bool = True  # the function has a training argument


@dataclass(slots=True)
class UninitialisedState:
    """Spectral norm (or the like) used in evaluation mode before any training forward."""

    root: int
    module: str
    kind: str
    site: int | None
    times: int = 0
    estimate: float = 0.0  # what the weight is divided by
    norm: float = 0.0  # its largest singular value


@dataclass(slots=True)
class AutocastMiss:
    """An operator inside an autocast region that did not run in the region's dtype."""

    root: int
    module: str
    module_class: str
    reason: str  # "other-device", "float64", "disabled" (torch said so), "loss-only" (the forward runs outside)
    region_device: str
    region_dtype: str
    device: str
    dtype: str
    site: int | None
    times: int = 0
    first_step: int = 0


@dataclass(slots=True)
class Modes:
    calls: list[ModeCall] = field(default_factory=list)
    forwards: list[ForwardKind] = field(default_factory=list)
    stuck: list[StuckMode] = field(default_factory=list)
    random: list[RandomInEvaluation] = field(default_factory=list)
    uninitialised: list[UninitialisedState] = field(default_factory=list)
    autocast_misses: list[AutocastMiss] = field(default_factory=list)
    trained: list[RootTraining] = field(default_factory=list)
    disabled: list[DisabledTraining] = field(default_factory=list)


@dataclass(slots=True)
class NonLeafRead:
    """`.grad` read on a tensor that is no leaf (torch warned)."""

    expression: str  # "w" in `w.grad`; "" when unknown
    site: int | None
    made_site: int | None = None  # the statement that made the tensor
    made_by: str = ""  # name of the operation, from its grad_fn
    lost_leaf: bool = False  # that statement makes a leaf and at once computes something else from it
    times: int = 0
    first_step: int = 0


# --- lifetime ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Retained:
    """Autograd graphs of earlier steps that are still alive, and who holds them."""

    holder: str  # "losses", "self.running", "history['loss']"
    kind: str  # "variable" (one tensor that was computed from them all) or the class of a container: "list", "dict"
    site: int | None  # the statement that adds to it, else the backward
    items: int = 0  # tensors in the container
    growing: bool = False  # a statement that adds to it was found
    graphs: int = 0  # steps whose graphs were alive at once, at most
    root: int | None = None  # the module whose outputs they are, where no loss of theirs is held
    after_backward: bool = (
        True  # False: made in evaluation and never gone through backward, so activations are kept too
    )
    in_loss: bool | None = (
        None  # a later loss reaches the earlier graphs, so backward walks through them again (None: not yet looked)
    )
    failed: bool = False  # backward raised: a graph reached through the holder had been freed
    first_step: int = 0


@dataclass(slots=True)
class CarriedState:
    """A state (a forward's input, or an attribute of its module) that carries earlier steps' graph into a new one."""

    root: int | None
    argument: str  # as the program names it: "hidden", "self.state"
    site: int | None  # the forward, or the statement that stores the attribute
    times: int = 0  # forwards whose input carried such a graph
    distinct: int = 0  # different graphs among them: one and the same is no history
    confirmed: int = 0  # walks in which the loss was seen to reach a graph made at least two steps before
    first_step: int = 0
    failed: bool = False  # backward raised: the graph had been freed
    nodes_first: int = 0  # nodes reached from the loss at the first walk, and at the last
    nodes_last: int = 0
    step_first: int = 0
    step_last: int = 0


@dataclass(slots=True)
class RetainedBackward:
    """backward(retain_graph=True) from one line, and whether later steps went through the same graph again."""

    site: int | None
    times: int = 0
    across_steps: int = 0  # walks in which a loss was seen to reach a graph made at least two steps before
    first_step: int = 0
    holder: str = ""  # the variable through which it does
    holder_site: int | None = None  # the statement that keeps it
    made_site: int | None = None  # where the old graph was made, if one and the same is gone through each time


@dataclass(slots=True)
class MemoryGrowth:
    """Memory that rises step by step, and the container that grows along."""

    device: str  # "cpu": the process; "cuda:0": memory allocated by torch
    first_bytes: int = 0
    last_bytes: int = 0
    first_step: int = 0
    last_step: int = 0
    steady: bool = False  # it rose in every quarter of these steps
    holder: str = ""  # "" when none was found
    kind: str = ""
    items: int = 0
    holder_bytes: int = 0  # of its tensors and arrays, by a sample
    items_per_step: float = 0.0
    site: int | None = None  # the statement that adds to it


@dataclass(slots=True)
class Lifetime:
    retained: list[Retained] = field(default_factory=list)
    carried: list[CarriedState] = field(default_factory=list)
    retain_graph: list[RetainedBackward] = field(default_factory=list)
    growth: list[MemoryGrowth] = field(default_factory=list)


@dataclass(slots=True)
class Run:
    """Everything that is known of one process of a watched run."""

    program: Program = field(default_factory=Program)
    sites: list[Site] = field(default_factory=list)
    steps: int = 0
    forwards: int = 0
    backwards: int = 0
    seconds: float = 0.0
    overhead: float | None = None
    deep_steps: int = 0  # looked at deeply
    torch_seen: bool = True
    #: "normal", "exception", "interrupted"; None: it was killed, left by os._exit, or still runs
    ending: str | None = None
    ledger: Ledger = field(default_factory=Ledger)
    protocol: Protocol = field(default_factory=Protocol)
    modes: Modes = field(default_factory=Modes)
    lifetime: Lifetime = field(default_factory=Lifetime)
    numerics: Numerics = field(default_factory=Numerics)
    dependence: Dependence = field(default_factory=Dependence)
    states: States = field(default_factory=States)
    failures: list[Failure] = field(default_factory=list)
    non_leaf_reads: list[NonLeafRead] = field(default_factory=list)
    kinds: Kinds = field(default_factory=Kinds)

    @property
    def complete(self) -> bool:
        """The program reached its own end, so what never happened never will."""
        return self.ending == "normal"

    def at(self, site: int | None) -> Location | None:
        """The location of a site number."""
        if site is None or not 0 <= site < len(self.sites):
            return None
        place = self.sites[site]
        return Location(place.path, place.line)

    def to_json(self) -> str:
        """One JSON object; `from_json` gives an equal record."""
        return json.dumps({"format": FORMAT, **_plain(self)}, separators=(",", ":"), allow_nan=True)

    @classmethod
    def from_json(cls, text: str) -> Run:
        """Read a saved record. ValueError when the text is no record of this format."""
        data = json.loads(text)
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ValueError("not a run record of this version of torchcaliper")
        run = _build(cls, data)
        assert isinstance(run, cls)
        return run


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(kind))


def _plain(value: Any) -> Any:
    """Dataclasses to dictionaries (`dataclasses.asdict` without its deep copies: this runs inside the program)."""
    kind: Any = type(value)
    if kind in (str, int, float, bool, types.NoneType):
        return value
    if kind is list or kind is tuple:
        return [_plain(v) for v in value]
    if kind is dict:
        return {k: _plain(v) for k, v in value.items()}
    return {name: _plain(getattr(value, name)) for name in _fields(kind)}


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _build(hint: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(hint):
        hints = _hints(typing.cast(type, hint))
        return typing.cast(type, hint)(**{name: _build(hints[name], v) for name, v in value.items() if name in hints})
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        return [_build(arguments[0], v) for v in value]
    if origin is dict:
        return {k: _build(arguments[1], v) for k, v in value.items()}
    return value
