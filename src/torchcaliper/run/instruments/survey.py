"""What a network is made of, looked through at its first forwards: layers and tensors it does not register, layers
that stand several times in one container, freezes written on the wrong object, layers built while it runs.
"""

from __future__ import annotations

import ast
import functools
import types
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import blame, walk
from torchcaliper.run.events import Backward, Forward
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.samples import Sample, spread
from torchcaliper.run.record import BuiltInForward, FreezeNote, HiddenModules, HiddenTensor, SharedLayer

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: attributes that nn.Module keeps for itself
_INTERNAL = frozenset(nn.Module().__dict__)
#: objects looked into while searching who holds a layer: a module that points at a data set must not cost seconds
_SEARCHED = 20_000
_DEPTH = 4
#: forwards after which layers built inside are no longer counted
_BUILDING_FORWARDS = 32
_SCALARS = (str, bytes, int, float, complex, bool, type(None), type, types.ModuleType, types.FunctionType)


class _Found:
    """A hidden thing, its holder, and what is needed to see later whether it learns."""

    __slots__ = ("record", "samples", "tensors")

    def __init__(self, record: HiddenModules | HiddenTensor, tensors: list[torch.Tensor]) -> None:
        self.record = record
        self.tensors = [weakref.ref(t) for t in tensors]
        self.samples = [Sample(t) for t in tensors[:2] if t.is_leaf]


class Survey(Instrument):
    """Structure of the networks."""

    name = "survey"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._found: list[_Found] = []
        self._known: set[tuple[int, int, str]] = set()  # (root, id of the owner, attribute)
        self._candidates: dict[tuple[int, int, str], weakref.ref[torch.Tensor]] = {}
        self._built: dict[tuple[int, int | None], tuple[BuiltInForward, torch.Tensor | None]] = {}
        self._last_built: dict[tuple[int, int | None], weakref.ref[nn.Module]] = {}
        self._checks = 0
        self._surveys: dict[int, int] = {}

    def on_forward_end(self, event: Forward) -> None:
        if event.error is not None or not event.grad:
            return
        if event.built:
            self._note_built(event)
        if event.called is not None:
            root = self.session.objects.root(event.root)
            self._surveys[root] = self._surveys.get(root, 0) + 1
            registered = {id(m) for m in walk.modules(event.root)}
            self._hidden_modules(root, event, registered)
            self._hidden_tensors(root, event)
            if self._surveys[root] == 1:
                self._shared_layers(root, event.root)
                self._freeze_attributes(root, event.root)
            self._checks = 0

    # M101

    def _hidden_modules(self, root: int, event: Forward, registered: set[int]) -> None:
        built = {id(m) for made, _ in event.built for m in walk.modules(made)}
        hidden = {
            i: m
            for i, m in (event.called or {}).items()
            if i not in registered and i not in built and next(walk.parameters(m), None) is not None
        }
        if not hidden:
            return
        inner = {id(c) for m in hidden.values() for c in walk.modules(m) if c is not m}
        tops = {i: m for i, m in hidden.items() if i not in inner}
        groups: dict[tuple[int, str], list[tuple[nn.Module, str]]] = {}
        owners: dict[int, tuple[nn.Module, str]] = {}
        kinds: dict[tuple[int, str], str] = {}
        for module, owner, attribute, where, kind in _holders(event.root, set(tops)):
            path = next((n for n, m in walk.named_modules(event.root) if m is owner), "")
            owners[id(owner)] = (owner, path)
            groups.setdefault((id(owner), attribute), []).append((module, where))
            kinds.setdefault((id(owner), attribute), kind)
        for (owner_id, attribute), modules in groups.items():
            if (root, owner_id, attribute) in self._known:
                continue
            self._known.add((root, owner_id, attribute))
            owner, path = owners[owner_id]
            parameters = [p for m, _ in modules for p in walk.parameters(m)]
            made = self.session.objects.made(modules[0][0])
            prefix = ".".join(p for p in (type(event.root).__name__, path) if p)
            record = HiddenModules(
                root=root,
                owner=type(owner).__name__,
                holder=f"{prefix}.{modules[0][1]}",
                attribute=attribute,
                container=kinds[owner_id, attribute],
                modules=len(modules),
                parameters=sum(p.numel() for p in parameters),
                classes=sorted({type(m).__name__ for m, _ in modules}),
                site=blame.assignment(self.session, type(owner), attribute, attribute=True),
                made_site=made[1] if made else None,
                trainable=any(p.requires_grad for p in parameters),
                calls=1,
            )
            same = next(
                (f.record for f in self._found if isinstance(f.record, HiddenModules) and _alike(f.record, record)),
                None,
            )
            if same is not None:  # the same line in each of several blocks
                same.modules += record.modules
                same.parameters += record.parameters
                continue
            self.run.ledger.hidden_modules.append(record)
            self._found.append(_Found(record, [p for p in parameters if p.requires_grad]))

    # M102

    def _hidden_tensors(self, root: int, event: Forward) -> None:
        registered = {id(p) for p in walk.parameters(event.root)} | {id(b) for b in walk.buffers(event.root)}
        given = {id(a) for a in (*event.args, *event.kwargs.values())}
        prefix = type(event.root).__name__
        for path, module in walk.named_modules(event.root):
            for attribute, value in module.__dict__.items():
                if attribute in _INTERNAL or isinstance(value, _SCALARS):
                    continue
                key = (root, id(module), attribute)
                if key in self._known:
                    continue
                where = ".".join(p for p in (prefix, path, attribute) if p)
                if isinstance(value, torch.Tensor):
                    if value.requires_grad and id(value) not in registered | given:
                        self._tensor_again(key, module, value, where)
                elif isinstance(value, list | tuple | dict):
                    inside = [
                        t
                        for t in _items(value)
                        if isinstance(t, torch.Tensor)
                        and t.requires_grad
                        and t.is_leaf
                        and id(t) not in registered | given
                    ]
                    if inside and self._seen_before(key, inside[0]):
                        self._add_tensor(key, module, inside, f"{where}[...]")

    def _seen_before(self, key: tuple[int, int, str], tensor: torch.Tensor) -> bool:
        """Whether the tensor stood there at an earlier forward already: what a forward leaves behind is no weight."""
        before = self._candidates.get(key)
        if before is not None and before() is tensor:
            return True
        self._candidates[key] = weakref.ref(tensor)
        return False

    def _tensor_again(self, key: tuple[int, int, str], module: nn.Module, value: torch.Tensor, where: str) -> None:
        if not self._seen_before(key, value):
            return
        if value.is_leaf:
            self._add_tensor(key, module, [value], where)
            return
        leaves = _leaves(value)
        if leaves and all(self.session.objects.known_parameter(t) is None for t in leaves):
            self._add_tensor(key, module, leaves, where, leaf=False)

    def _add_tensor(
        self, key: tuple[int, int, str], module: nn.Module, tensors: list[torch.Tensor], where: str, leaf: bool = True
    ) -> None:
        root, _, attribute = key
        self._known.add(key)
        record = HiddenTensor(
            root=root,
            owner=type(module).__name__,
            attribute=attribute,
            holder=where,
            shape=list(tensors[0].shape),
            is_parameter=isinstance(tensors[0], nn.Parameter),
            count=len(tensors),
            site=blame.assignment(self.session, type(module), attribute, attribute=True),
            leaf=leaf,
        )
        for found in self._found:
            same = found.record
            if isinstance(same, HiddenTensor) and same.site == record.site is not None and same.attribute == attribute:
                same.count += record.count
                return
        self.run.ledger.hidden_tensors.append(record)
        self._found.append(_Found(record, tensors))

    # do they learn

    def on_backward_end(self, event: Backward) -> None:
        if not self._found or event.error is not None:
            return
        self._checks += 1
        if self._checks > 8 and self._checks & (self._checks - 1):
            return
        for found in self._found:
            if not found.record.gradients:
                found.record.gradients = any(
                    (t := r()) is not None and t.is_leaf and t.grad is not None for r in found.tensors[:64]
                )

    def refresh(self) -> None:
        objects, parameters = self.session.objects, self.run.ledger.parameters
        for found in self._found:
            if not found.record.optimized:
                indices = [objects.known_parameter(t) for r in found.tensors if (t := r()) is not None]
                known = [parameters[i] for i in indices if i is not None]
                found.record.optimized = any(p.optimizers for p in known)
                if isinstance(found.record, HiddenModules):
                    found.record.loaded |= any(p.loaded for p in known)
            if not found.record.moved and any((seen := s.look()) is not None and seen[0] for s in found.samples):
                found.record.moved = True

    # M103

    def _note_built(self, event: Forward) -> None:
        root = self.session.objects.root(event.root)
        registered = {id(p) for p in walk.parameters(event.root)}
        kept = {id(m) for m in walk.modules(event.root)}
        for module, site in event.built:
            if any(module is c for other, _ in event.built if other is not module for c in walk.modules(other)):
                continue  # a part of another one that was built here
            fresh = [p for p in walk.parameters(module) if p.requires_grad and id(p) not in registered]
            if not fresh and not (id(module) in kept and next(walk.parameters(module), None) is not None):
                continue
            key = (root, site)
            before = self._last_built.get(key)
            earlier = before() if before is not None else None
            self._last_built[key] = weakref.ref(module)
            if earlier is not None and id(earlier) in kept and earlier is not module:
                continue  # the one built before is still in use: each is built once, when it is first needed
            record, values = self._built.get(key, (None, None))
            if record is None:
                record = BuiltInForward(root, [], site, first_step=self.session.step, constant=True)
                self._built[key] = (record, None)
                self.run.ledger.built_in_forward.append(record)
            if record.steps >= _BUILDING_FORWARDS:
                continue
            name = type(module).__name__
            if name not in record.classes:
                record.classes.append(name)
            record.times += 1
            if record.forwards != event.number:
                record.forwards = event.number
                record.steps += 1
            first = next(iter(walk.parameters(module)))
            now = spread(first) if first.device.type == "cpu" else None
            if now is None or (values is not None and not torch.equal(values, now)):
                record.constant = False
            self._built[key] = (record, now)

    # M105

    def _shared_layers(self, root: int, module: nn.Module) -> None:
        name = type(module).__name__
        for path, owner in walk.named_modules(module):
            if not isinstance(owner, nn.Sequential | nn.ModuleList | nn.ModuleDict):
                continue
            counts: dict[int, int] = {}
            children = [c for c in owner._modules.values() if c is not None]
            for child in children:
                counts[id(child)] = counts.get(id(child), 0) + 1
            for child in {id(c): c for c in children}.values():
                size = sum(p.numel() for p in walk.parameters(child))
                # one number (a PReLU) is shared for brevity, not by accident
                if counts[id(child)] > 1 and size > 1:
                    self.run.ledger.shared_layers.append(
                        SharedLayer(
                            root=root,
                            container=".".join(p for p in (name, path) if p),
                            container_class=type(owner).__name__,
                            layer_class=type(child).__name__,
                            times=counts[id(child)],
                            parameters=size,
                            site=self._binding_site(module, path),
                        )
                    )

    def _binding_site(self, root: nn.Module, path: str) -> int | None:
        """Where the part of a network at `path` is bound by the nearest class of the user's."""
        chain: list[tuple[nn.Module, str]] = []
        module = root
        for name in path.split(".") if path else ():
            chain.append((module, name))
            module = module._modules[name]  # type: ignore[assignment]
        for owner, name in reversed(chain):
            site = blame.assignment(self.session, type(owner), name, attribute=True)
            if site is not None:
                return site
        made = self.session.objects.made(module) or self.session.objects.made(root)
        return made[1] if made else None

    # M119

    def _freeze_attributes(self, root: int, module: nn.Module) -> None:
        name = type(module).__name__
        for path, layer in walk.named_modules(module):
            full = ".".join(p for p in (name, path) if p)
            trainable = [p for p in walk.parameters(layer) if p.requires_grad]
            if trainable and layer.__dict__.get("requires_grad") is False:
                site = self._freezing_line(root, "requires_grad", path.rpartition(".")[2], module=True)
                self.run.ledger.freezes.append(
                    FreezeNote("module-attribute", root, full, site, len(trainable), True, "requires_grad")
                )
        misspelt: dict[str, list[torch.Tensor]] = {}
        for parameter in walk.parameters(module):
            for attribute, value in getattr(parameter, "__dict__", {}).items():
                if value is False and "grad" in attribute and parameter.requires_grad and not attribute.startswith("_"):
                    misspelt.setdefault(attribute, []).append(parameter)
        for attribute, tensors in misspelt.items():
            site = self._freezing_line(root, attribute, "", module=False)
            self.run.ledger.freezes.append(
                FreezeNote("parameter-attribute", root, name, site, len(tensors), True, attribute)
            )

    def _freezing_line(self, root: int, attribute: str, part: str, *, module: bool) -> int | None:
        """The statement `<part>.<attribute> = False` in the user's files."""
        best: tuple[int, str, int] | None = None
        for path in dict.fromkeys(s.path for s in self.run.sites):
            tree = blame.tree(path)
            if tree is None:
                continue
            loops = _parameter_loops(tree)
            for node in ast.walk(tree):
                if not isinstance(node, ast.Assign) or not (
                    isinstance(node.value, ast.Constant) and node.value.value is False
                ):
                    continue
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and target.attr == attribute:
                        rank = _freeze_rank(target.value, part, loops) if module else 0
                        if rank is not None and (best is None or rank < best[0]):
                            best = (rank, path, node.lineno)
        if best is None:
            record = self.run.ledger.roots[root]
            return record.made_site if record.made_site is not None else record.call_site
        return self.session.site_at(best[1], best[2], "")


def _alike(one: HiddenModules, other: HiddenModules) -> bool:
    return (one.root, one.owner, one.attribute, one.site) == (other.root, other.owner, other.attribute, other.site)


def _items(value: Any, limit: int = 1000) -> Iterator[Any]:
    """Items of a container and of the containers in it, one level deep."""
    outer = list(value.values() if isinstance(value, dict) else value)[:limit]
    for item in outer:
        if isinstance(item, list | tuple | dict):
            yield from list(item.values() if isinstance(item, dict) else item)[:limit]
        else:
            yield item


def _leaves(tensor: torch.Tensor, limit: int = 256) -> list[torch.Tensor]:
    """Leaves that a tensor was computed from."""
    found: list[torch.Tensor] = []
    stack, seen = [tensor.grad_fn], set[Any]()
    while stack and len(seen) < limit:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.append(variable)
        stack.extend(n for n, _ in node.next_functions)
    return found


def _holders(root: nn.Module, wanted: set[int]) -> Iterator[tuple[nn.Module, nn.Module, str, str, str]]:
    """(layer, owner, attribute, text, kind of holder) for each wanted layer that an attribute leads to."""
    visited: set[int] = {id(m) for m in walk.modules(root)}
    left = [_SEARCHED]
    missing = set(wanted)
    for owner in walk.modules(root):
        for attribute, value in list(owner.__dict__.items()):
            if attribute in _INTERNAL:
                continue
            kind = type(value).__name__
            for module, where in _search(value, attribute, wanted, visited, left, _DEPTH):
                if id(module) in missing:
                    missing.discard(id(module))
                    yield module, owner, attribute, where, kind
            if not missing:
                return


def _search(
    value: Any, where: str, wanted: set[int], visited: set[int], left: list[int], depth: int
) -> Iterator[tuple[nn.Module, str]]:
    if isinstance(value, torch.Tensor) or (isinstance(value, _SCALARS) and not isinstance(value, types.FunctionType)):
        return
    if id(value) in visited or depth < 0 or left[0] <= 0:
        return
    visited.add(id(value))
    left[0] -= 1
    if isinstance(value, nn.Module):
        if id(value) in wanted:
            yield value, where
            return
        for name, child in walk.named_children(value):
            yield from _search(child, f"{where}.{name}", wanted, visited, left, depth)
        return
    inner: list[tuple[str, Any]]
    if isinstance(value, dict):
        inner = [(f"{where}[{k!r}]", v) for k, v in list(value.items())[:1000]]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = [(f"{where}[{i}]", v) for i, v in enumerate(list(value)[:1000])]
    elif isinstance(value, functools.partial):
        inner = [(where, v) for v in (value.func, *value.args, *value.keywords.values())]
    elif isinstance(value, types.MethodType):
        inner = [(where, value.__self__)]
    elif isinstance(value, types.FunctionType):
        inner = [(where, c.cell_contents) for c in value.__closure__ or () if _filled(c)]
    elif type(value).__module__.split(".")[0] in ("torch", "numpy", "builtins"):
        return
    else:
        inner = [(f"{where}.{k}", v) for k, v in list(getattr(value, "__dict__", {}).items())[:200]]
    for text, item in inner:
        yield from _search(item, text, wanted, visited, left, depth - 1)


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _parameter_loops(tree: ast.Module) -> set[str]:
    """Names that run over parameters: on these `requires_grad = False` is right."""
    names: set[str] = set()
    for node in ast.walk(tree):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        for target, source in pairs:
            if any(
                isinstance(n, ast.Attribute) and n.attr in ("parameters", "named_parameters") for n in ast.walk(source)
            ):
                names.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
    return names


def _freeze_rank(base: ast.expr, part: str, loops: set[str]) -> int | None:
    """How well the object of a freezing statement fits a layer of that name; None: it freezes a parameter."""
    if isinstance(base, ast.Name):
        return None if base.id in loops else 0 if base.id == part else 2
    last = base.attr if isinstance(base, ast.Attribute) else ""
    if last in ("weight", "bias"):
        return None
    return 0 if last == part else 1
