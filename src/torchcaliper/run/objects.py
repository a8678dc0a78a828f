"""Numbers for the program's modules, parameters and optimizers, held weakly."""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchcaliper.run import walk
from torchcaliper.run.frames import locals_of
from torchcaliper.run.record import Optimizer, Parameter, Root, Run
from torchcaliper.run.unseen import unseen

if TYPE_CHECKING:
    from torchcaliper.run.callsite import CallSites

_NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.LocalResponseNorm) + (
    (nn.RMSNorm,) if hasattr(nn, "RMSNorm") else ()
)
_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel)
_DROPOUTS = (nn.modules.dropout._DropoutNd,)
_RECURRENT = (nn.RNNBase,)


#: A program that makes copies without end (MAML, cross-validation, a population) must not make the record grow with
#: them: networks and optimizers beyond these numbers are left alone.
_ROOTS = 64
_OPTIMIZERS = 64


class Objects:
    """What the program has made, by number. An object that is gone leaves its record."""

    def __init__(self, run: Run, sites: CallSites) -> None:
        self._run = run
        self._sites = sites
        self._roots: dict[int, tuple[weakref.ref[nn.Module], int]] = {}
        self._root_objects: list[weakref.ref[nn.Module]] = []
        self._parameters: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._tensors: list[weakref.ref[torch.Tensor]] = []
        self._optimizers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._optimizer_objects: list[weakref.ref[Any]] = []
        self._made: dict[int, tuple[weakref.ref[nn.Module], int, int | None]] = {}
        self._sizes: dict[int, int] = {}  # root -> number of parameters at the last walk
        self._serial = 0

    def serial(self) -> int:
        """The next serial number: modules, optimizers and parameters in the order of their making."""
        self._serial += 1
        return self._serial

    # modules

    @staticmethod
    def unwrap(module: nn.Module) -> nn.Module:
        """The program's own module inside DDP, DataParallel or torch.compile."""
        for _ in range(8):
            if isinstance(module, torch.jit.ScriptModule):
                break
            inner = module._modules.get("_orig_mod")
            if inner is None and isinstance(module, _WRAPPERS):
                inner = module._modules.get("module")
            if inner is None:
                break
            module = inner
        return module

    def note_made(self, module: nn.Module, site: int | None) -> int:
        """Remember when and where a module was constructed."""
        number, key = self.serial(), id(module)
        made = self._made

        def forget(_: Any) -> None:
            made.pop(key, None)

        made[key] = (weakref.ref(module, forget), number, site)
        return number

    def made(self, module: nn.Module) -> tuple[int, int | None] | None:
        """(serial number, site) of a module's construction; None for copies and unpickled ones."""
        entry = self._made.get(id(module))
        return (entry[1], entry[2]) if entry is not None and entry[0]() is module else None

    def made_modules(self) -> list[tuple[nn.Module, int]]:
        """Living modules whose construction was seen, with their serial numbers."""
        return [(m, e[1]) for e in list(self._made.values()) if (m := e[0]()) is not None]

    def known_root(self, module: nn.Module) -> int | None:
        """The number of a root, or None when it was never called."""
        entry = self._roots.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def welcomes_root(self, module: nn.Module) -> bool:
        """Whether a module is a root already, or may become one; parts of known networks always may."""
        if len(self._root_objects) < _ROOTS or self.known_root(module) is not None:
            return True
        first = next(walk.parameters(module), None)
        return first is not None and self._known_parameter(first) is not None

    def root(self, module: nn.Module) -> int:
        """The number of a module that the program calls itself; registers it and its parameters on first use."""
        module = self.unwrap(module)
        number = self.known_root(module)
        if number is not None:
            return number
        made = self.made(module)
        number = len(self._run.ledger.roots)
        kind = type(module)
        source = getattr(sys.modules.get(kind.__module__), "__file__", None)
        record = Root(
            name=kind.__name__,
            made=made[0] if made else 0,
            made_site=made[1] if made else None,
            user_class=kind.__module__ == "__main__" or bool(source and self._sites.is_user(source)),
        )
        self._run.ledger.roots.append(record)
        self._roots[id(module)] = (weakref.ref(module), number)
        self._root_objects.append(weakref.ref(module))
        self.refresh_root(module)
        for other, reference in enumerate(self._root_objects[:-1]):
            holder = reference()
            if holder is None:
                continue
            if any(m is module for m in walk.modules(holder)):
                record.part_of = other
            elif self._run.ledger.roots[other].part_of is None and any(m is holder for m in walk.modules(module)):
                self._run.ledger.roots[other].part_of = number
        return number

    def refresh_root(self, module: nn.Module) -> bool:
        """Walk a root's parameters and layers again; True when its set of parameters changed."""
        with unseen():
            return self._refresh_root(module)

    def _refresh_root(self, module: nn.Module) -> bool:
        number = self.known_root(module)
        if number is None:
            return False
        record = self._run.ledger.roots[number]
        changed = False
        record.dropout = []
        record.batch_norm = []
        count = 0
        for path, layer in walk.named_modules(module):
            if _drops(layer):
                record.dropout.append(path)
            elif isinstance(layer, nn.modules.batchnorm._BatchNorm) and layer.track_running_stats:
                record.batch_norm.append(path)
            for name, parameter in layer._parameters.items():
                if parameter is not None and not is_lazy(parameter):
                    count += 1
                    changed |= self._name(parameter, layer, name, path, number)
        record.parameters = count
        return changed

    def _name(self, parameter: torch.Tensor, layer: nn.Module, name: str, path: str, root: int) -> bool:
        """Give a parameter its name within a root; True when it was not known as the root's before."""
        known = self._known_parameter(parameter)
        number = self.parameter(parameter) if known is None else known
        record = self._run.ledger.parameters[number]
        roots = self._run.ledger.roots
        if record.root is not None and record.root != root:
            holder = self.module(record.root)
            mine = self._root_objects[root]()
            if holder is not None and mine is not None and not any(m is holder for m in walk.modules(mine)):
                return False  # shared with an independent root: the first name stays
        new = record.root != root
        made = self.made(layer)
        prefix = ".".join(p for p in (roots[root].name, path) if p)
        record.name = f"{prefix}.{name}"
        record.module, record.module_class, record.root, record.registered = prefix, type(layer).__name__, root, True
        if made is not None:
            record.made, record.made_site = made
        record.shape = list(parameter.shape)  # a lazy one that an optimizer brought had none
        record.role = (
            "norm"
            if isinstance(layer, _NORMS)
            else "bias"
            if name.startswith("bias") or name.endswith("bias")
            else "weight"
        )
        return new

    def module(self, root: int) -> nn.Module | None:
        """The root of that number, while it lives."""
        return self._root_objects[root]()

    def roots(self) -> list[tuple[int, nn.Module]]:
        """Living roots."""
        return [(i, m) for i, r in enumerate(self._root_objects) if (m := r()) is not None]

    # parameters

    def _known_parameter(self, parameter: torch.Tensor) -> int | None:
        entry = self._parameters.get(id(parameter))
        return entry[1] if entry is not None and entry[0]() is parameter else None

    def known_parameter(self, parameter: torch.Tensor) -> int | None:
        """The number of a parameter, or None when it was never seen."""
        return self._known_parameter(parameter)

    def parameter(self, parameter: torch.Tensor) -> int:
        """The number of a parameter; registers it, without a name, on first use."""
        number = self._known_parameter(parameter)
        if number is not None:
            return number
        shape = [] if is_lazy(parameter) else list(parameter.shape)
        number = len(self._run.ledger.parameters)
        self._run.ledger.parameters.append(
            Parameter(
                name=f"tensor {tuple(shape)}",
                module="",
                module_class="",
                shape=shape,
                dtype=str(parameter.dtype).removeprefix("torch."),
                role="weight",
                root=None,
                registered=False,
                trainable=parameter.requires_grad,
            )
        )
        self._parameters[id(parameter)] = (weakref.ref(parameter), number)
        self._tensors.append(weakref.ref(parameter))
        return number

    def tensor(self, parameter: int) -> torch.Tensor | None:
        """The parameter of that number, while it lives."""
        return self._tensors[parameter]()

    # optimizers

    def welcomes_optimizer(self, optimizer: Any) -> bool:
        """Whether an optimizer is known, or may become so."""
        return len(self._optimizer_objects) < _OPTIMIZERS or self.known_optimizer(optimizer) is not None

    def optimizer(self, optimizer: Any, site: int | None = None) -> int:
        """The number of an optimizer; registers it on first use."""
        entry = self._optimizers.get(id(optimizer))
        if entry is not None and entry[0]() is optimizer:
            return entry[1]
        number = len(self._run.ledger.optimizers)
        self._run.ledger.optimizers.append(Optimizer(name=type(optimizer).__name__, site=site, made=self.serial()))
        self._optimizers[id(optimizer)] = (weakref.ref(optimizer), number)
        self._optimizer_objects.append(weakref.ref(optimizer))
        return number

    def known_optimizer(self, optimizer: Any) -> int | None:
        """The number of an optimizer, or None when it was never seen."""
        entry = self._optimizers.get(id(optimizer))
        return entry[1] if entry is not None and entry[0]() is optimizer else None

    def optimizer_object(self, number: int) -> Any:
        """The optimizer of that number, while it lives."""
        return self._optimizer_objects[number]()

    def optimizers(self) -> list[tuple[int, Any]]:
        """Living optimizers."""
        return [(i, o) for i, r in enumerate(self._optimizer_objects) if (o := r()) is not None]


def _drops(layer: nn.Module) -> bool:
    """Whether a layer drops anything in training mode."""
    if isinstance(layer, _RECURRENT):
        return bool(layer.dropout > 0 and layer.num_layers > 1)
    if isinstance(layer, nn.MultiheadAttention):
        return bool(layer.dropout > 0)
    return isinstance(layer, _DROPOUTS) and bool(layer.p > 0)


def constructor_frame(frame: Any, module: nn.Module) -> Any:
    """Walk out of the constructors of `module` itself, to the frame that asked for it."""
    while frame is not None and frame.f_code.co_name == "__init__":
        names = frame.f_code.co_varnames
        if not names or not frame.f_code.co_argcount or locals_of(frame).get(names[0]) is not module:
            break
        frame = frame.f_back
    return frame
