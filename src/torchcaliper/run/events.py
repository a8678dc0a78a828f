"""What probes tell instruments: one event per watched call, with the live objects and the user's site.

An event lives only while it is handled: an instrument that keeps a tensor or a module alive changes the program.
Calls with a duration are told twice, as `<name>_begin` and `<name>_end`, with the same event object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import nn
    from torch.optim import Optimizer
    from torch.utils.data import DataLoader


@dataclass(slots=True)
class ModuleMade:
    """`nn.Module.__init__` has run (attributes and parameters may still be missing). Told as `module_made`."""

    module: nn.Module
    site: int | None
    serial: int


@dataclass(slots=True)
class Forward:
    """A module called by the program itself, not from within another module. `forward_begin`, `forward_end`.

    Not told: calls inside a backward (recomputation), inside torch.compile's or jit's tracing.
    """

    module: nn.Module  # what was called
    root: nn.Module  # the same without wrappers (DDP, DataParallel, torch.compile)
    site: int | None
    frame: FrameType | None  # the user's frame (only valid during the event)
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    training: bool
    grad: bool
    inference: bool
    autocast: tuple[str, str] | None  # (device type, dtype name) of the active region for any device
    output: Any = None
    error: BaseException | None = None
    #: survey forwards only (the first few with grad of each root): every module called inside, once, in order
    called: dict[int, nn.Module] | None = None
    #: survey forwards only: outputs' dtype of the leaf layers called inside, by module id
    dtypes: dict[int, torch.dtype] | None = None
    #: survey forwards only: modules that ran with grad disabled, by id
    without_grad: set[int] = field(default_factory=set)
    #: after an error: the innermost module it came out of
    failed: nn.Module | None = None
    #: modules constructed while it ran: (module, site)
    built: list[tuple[nn.Module, int | None]] = field(default_factory=list)
    number: int = 0  # counts forwards


@dataclass(slots=True)
class LossCall:
    """A call of a loss module or loss function (`nn.*Loss`, `F.*_loss`, `F.cross_entropy`, ...). `loss_end`."""

    function: str
    site: int | None
    args: tuple[Any, ...]
    grad: bool
    value: Any = None
    kwargs: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()  # of the function's parameters

    def argument(self, *names: str) -> Any:
        """What was passed for a parameter, under the first of these names that it has; None when nothing was."""
        for name in names:
            if name in self.kwargs:
                return self.kwargs[name]
            if name in self.names and (place := self.names.index(name)) < len(self.args):
                return self.args[place]
        return None


@dataclass(slots=True)
class Backward:
    """`Tensor.backward` / `torch.autograd.backward` by the program. `backward_begin`, `backward_end`."""

    tensors: tuple[torch.Tensor, ...]
    site: int | None
    frame: FrameType | None
    retain_graph: bool
    create_graph: bool
    autocast: tuple[str, str] | None
    stepping: Optimizer | None  # the optimizer whose step(closure) is running
    error: BaseException | None = None
    number: int = 0


@dataclass(slots=True)
class GradCall:
    """`torch.autograd.grad` by the program. `grad_begin`, `grad_end`."""

    outputs: tuple[torch.Tensor, ...]
    site: int | None
    retain_graph: bool
    error: BaseException | None = None


@dataclass(slots=True)
class OptimizerMade:
    """An optimizer was constructed. `optimizer_made`.

    `given`: settings that the user wrote (a value that is not the default, or a keyword in the source of the call).
    """

    optimizer: Optimizer
    groups: list[Any]  # per group the object given as "params" (the list itself when there are no group dictionaries)
    site: int | None
    frame: FrameType | None
    given: frozenset[str]
    serial: int


@dataclass(slots=True)
class Step:
    """`optimizer.step()`. `step_begin`, `step_end`. Not told when a GradScaler skips the step."""

    optimizer: Optimizer
    site: int | None
    scaler: Any | None  # the GradScaler that calls it
    nested: bool  # called by another optimizer's step
    first_backward: int = 0  # number of the last backward before it began


@dataclass(slots=True)
class ZeroGrad:
    """`zero_grad()` of an optimizer or a module. `zero_grad_begin`, `zero_grad_end`."""

    owner: Any
    site: int | None


@dataclass(slots=True)
class Clip:
    """`clip_grad_norm_` or `clip_grad_value_`. `clip_begin`, `clip_end`."""

    parameters: list[torch.Tensor]
    kind: str  # "norm" or "value"
    limit: float
    site: int | None
    norm: Any = None  # clip_end: what clip_grad_norm_ returned


@dataclass(slots=True)
class SchedulerMade:
    """A learning rate scheduler was constructed (outermost constructor). `scheduler_made`."""

    scheduler: Any
    site: int | None


@dataclass(slots=True)
class SchedulerStep:
    """`scheduler.step(...)`. `scheduler_begin`, `scheduler_end`. Not told from constructors.

    `inner`: another scheduler's step calls it.
    """

    scheduler: Any
    site: int | None
    args: tuple[Any, ...]
    inner: bool


@dataclass(slots=True)
class ScalerCall:
    """A method of a GradScaler. `scaler_begin`, `scaler_end`; `scaler_made` with call="made"."""

    scaler: Any
    call: str  # "made", "scale", "unscale", "step", "update"
    site: int | None
    optimizer: Optimizer | None = None
    outputs: Any = None  # scale: what was returned
    stepped: bool | None = None  # step: did the optimizer step, or was it skipped
    error: BaseException | None = None


@dataclass(slots=True)
class ModeSet:
    """`module.train(mode)` / `eval()`, outermost call. `mode_begin`, `mode_end`.

    `by_user` is False when torch itself calls it (exporters, update_bn, ...). `inner`: the modules whose own train()
    was called by user code inside (overridden train methods): (module, mode, site).
    """

    module: nn.Module
    training: bool
    site: int | None
    frame: FrameType | None
    by_user: bool
    inner: list[tuple[nn.Module, bool, int | None]] = field(default_factory=list)


@dataclass(slots=True)
class StateLoaded:
    """`module.load_state_dict(state)`, outermost. `load_begin`, `load_end`."""

    module: nn.Module
    state: Any
    site: int | None
    frame: FrameType | None
    strict: bool = True
    result: Any = None  # the missing and unexpected keys
    error: BaseException | None = None


@dataclass(slots=True)
class Initialised:
    """A function of torch.nn.init called by user code (not by a layer's own constructor). `initialised`."""

    tensor: torch.Tensor
    function: str
    site: int | None


@dataclass(slots=True)
class DropoutCall:
    """A functional dropout, or attention with dropout, called by user code while it is active. `dropout`."""

    function: str
    p: float
    explicit: bool  # the training argument was written
    has_training: bool  # the function has one
    site: int | None
    module: nn.Module | None  # the nearest module whose method is on the stack


@dataclass(slots=True)
class LoaderMade:
    """A DataLoader was constructed. `loader_made`."""

    loader: DataLoader[Any]
    site: int | None


@dataclass(slots=True)
class LoaderEpoch:
    """Iteration over a DataLoader begins. `loader_epoch`."""

    loader: DataLoader[Any]
    site: int | None


@dataclass(slots=True)
class Batch:
    """A DataLoader delivered a batch. `batch`."""

    loader: DataLoader[Any]
    data: Any
    seconds: float  # waited for it


@dataclass(slots=True)
class GradModeSet:
    """`torch.set_grad_enabled(mode)` called as a function or context by user code. `grad_mode`."""

    enabled: bool
    site: int | None


@dataclass(slots=True)
class AverageUpdated:
    """`AveragedModel.update_parameters(model)`. `average_updated`."""

    average: nn.Module
    model: nn.Module
    site: int | None


@dataclass(slots=True)
class WarningShown:
    """A Python warning that the program is about to show. `warning`."""

    message: str
    category: str
    path: str
    line: int
    site: int | None


@dataclass(slots=True)
class Operation:
    """An operator seen by a close look (see `run/operators.py`). `operation`.

    Told only while a look is on: within the first step, and later when an instrument asks for one.
    """

    function: Any  # the torch function or method
    name: str  # its plain name: "item", "add_", "relu", "__iadd__", "__set__" (property "requires_grad", "data"), ...
    property: str  # name of the property for "__get__"/"__set__"
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    site: int | None
    grad: bool
    seconds: float = 0.0  # as the host sees it


@dataclass(slots=True)
class CheckpointCall:
    """A call of activation checkpointing. `checkpoint_begin`, `checkpoint_end`. Not told in recomputations."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    site: int | None
    reentrant: bool | None  # None: not given
    preserved: bool
    grad: bool
    output: Any = None


@dataclass(slots=True)
class Ended:
    """The program ends (atexit), or the `watch()` block does. `ended`."""

    kind: str  # "normal", "exception", "interrupted"
    error: BaseException | None = None
