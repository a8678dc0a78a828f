"""Items of values: iteration, indexing, unpacking, assignment."""

from __future__ import annotations

import ast
from typing import Any

from torchcaliper.source.interpreter import Interpreter
from torchcaliper.source.layers import children, some_child
from torchcaliper.source.shapes import PARTS, batched, has_dims, shape_of_item, shape_of_part
from torchcaliper.source.values import (
    Arguments,
    Class,
    Collection,
    Constant,
    Either,
    Object,
    Phi,
    Symbol,
    Table,
    Value,
    constant,
    either,
)


def element_of(run: Interpreter, over: Value, node: ast.AST) -> Value:
    """What a loop over a value gives in one turn."""
    if isinstance(over, Collection):
        values = list(over.all())
        return either(*values[:4]) if values else run.symbol("element", node, (over,))
    if isinstance(over, Table):
        return either(*[Constant(key) for key in list(over.items)[:4]]) if over.items else run.symbol("key", node)
    if isinstance(over, Object):
        if over.is_a("torch.utils.data.DataLoader"):
            return _batch(run, over, node)
        child = some_child(over)
        return child if child is not None else run.symbol("element", node, (over,))
    if isinstance(over, Either):
        return either(*[element_of(run, option, node) for option in over.options[:4]])
    if isinstance(over, Phi):
        return element_of(run, over.first, node)
    if isinstance(over, Constant) and isinstance(over.value, str | tuple | list | range) and over.value:
        return Constant(over.value[0]) if len(over.value) == 1 else run.symbol("element", node, (over,))
    result = run.symbol("element", node, (over,))
    if isinstance(over, Symbol):
        result.shape = shape_of_part(over) if over.op in PARTS else over.shape[1:] if over.shape else None
    return result


def _batch(run: Interpreter, loader: Object, node: ast.AST) -> Value:
    """A batch of a DataLoader. What the dataset's methods do for it is followed once."""
    dataset = loader.arguments.get("dataset", 0)
    key = "[read]"
    if isinstance(dataset, Object) and isinstance(dataset.type, Class) and key not in loader.attributes:
        from torchcaliper.source.calling import call_method

        loader.attributes[key] = Constant(True)
        context = run.context
        region = run.region("torch.utils.data.DataLoader", loader.arguments, node)
        run.context = context.but(region=region)
        try:
            if dataset.method("__getitem__") is not None:
                index = run.symbol("index", node, (dataset,))
                index.shape = ()
                loader.attributes["[sample]"] = call_method(run, dataset, "__getitem__", Arguments((index,)), node)
            elif dataset.method("__iter__") is not None:
                call_method(run, dataset, "__iter__", Arguments(), node)
        finally:
            run.context = context
    result = run.symbol("batch", node, (loader,))
    sample = loader.attributes.get("[sample]")
    size = loader.arguments.get("batch_size", 1)
    if sample is not None and "collate_fn" not in loader.arguments.keywords and constant(size, 1) is not None:
        result.options = {"sample": sample}
        result.shape = batched(result, sample)
    return result


def get_item(run: Interpreter, holder: Value, index: Value, node: ast.AST) -> Value:
    """`holder[index]`."""
    if isinstance(holder, Collection):
        if isinstance(index, Constant):
            if isinstance(index.value, int) and holder.known and -len(holder.items) <= index.value < len(holder.items):
                return holder.items[index.value]
            if isinstance(index.value, slice) and holder.known:
                try:
                    return Collection(holder.kind, holder.items[index.value])
                except (TypeError, ValueError):
                    pass
        values = list(holder.all())
        if values and (not isinstance(index, Constant) or isinstance(index.value, int)):
            return either(*values[:4])
    elif isinstance(holder, Table):
        if isinstance(index, Constant) and _hashable(index.value) and index.value in holder.items:
            return holder.items[index.value]
        if holder.element is not None:
            return holder.element
    elif isinstance(holder, Object):
        items = children(holder)
        if items and isinstance(index, Constant) and isinstance(index.value, int):
            if -len(items) <= index.value < len(items):
                return items[index.value]
        elif not isinstance(index, Constant) or isinstance(index.value, int):
            child = some_child(holder)
            if child is not None:
                return child
        stored = holder.attributes.get(f"[{index.value!r}]") if isinstance(index, Constant) else None
        if stored is not None:
            return stored
        own = holder.method("__getitem__")
        if own is not None:
            from torchcaliper.source.calling import call_method

            return call_method(run, holder, "__getitem__", Arguments((index,)), node)
    elif isinstance(holder, Either):
        return either(*[get_item(run, option, index, node) for option in holder.options[:4]])
    elif isinstance(holder, Phi) and not isinstance(holder.first, Symbol):
        return get_item(run, holder.first, index, node)
    elif isinstance(holder, Constant) and isinstance(index, Constant):
        try:
            return Constant(holder.value[index.value])
        except Exception:
            pass
    result = run.symbol("getitem", node, (holder,), options={"index": index})
    if isinstance(holder, Symbol | Phi):
        shape_of_item(result, holder, index)
    return result


def set_item(run: Interpreter, holder: Value, index: Value, value: Value, node: ast.AST) -> None:
    """`holder[index] = value`."""
    run.emit("set", node, receiver=holder, arguments=Arguments((index, value)), result=value, attribute="[]")
    if isinstance(holder, Table):
        if isinstance(index, Constant) and _hashable(index.value):
            run.write(holder.items, index.value, value)
        else:
            holder.element = value if holder.element is None else either(holder.element, value)
    elif isinstance(holder, Collection):
        known = isinstance(index, Constant) and isinstance(index.value, int) and holder.known
        if known and -len(holder.items) <= index.value < len(holder.items):  # type: ignore[attr-defined]
            holder.items[index.value] = value  # type: ignore[attr-defined]
        else:
            holder.element = value if holder.element is None else either(holder.element, value)
    elif isinstance(holder, Object) and isinstance(index, Constant):
        run.write(holder.attributes, f"[{index.value!r}]", value)


def unpack(run: Interpreter, value: Value, count: int, star: int | None, node: ast.AST) -> list[Value]:
    """The parts of a value for `count` targets, the one at `star` taking the rest."""
    if isinstance(value, Phi) and not isinstance(value.first, Symbol):
        value = value.first
    if star is None and isinstance(value, Symbol) and value.op in ("shape", "size"):
        has_dims(value, count, run.context)
    if isinstance(value, Collection) and value.known:
        items = value.items
        if star is None and len(items) == count:
            return list(items)
        if star is not None and len(items) >= count - 1:
            tail = count - star - 1
            middle = items[star : len(items) - tail]
            return [*items[:star], Collection("list", list(middle)), *(items[len(items) - tail :] if tail else [])]
    if isinstance(value, Collection) and value.element is not None and star is None:
        return [either(*list(value.all())[:4])] * count
    if isinstance(value, Constant) and isinstance(value.value, tuple | list | str) and len(value.value) == count:
        return [Constant(part) for part in value.value]
    if isinstance(value, Either) and star is None:
        ways = [unpack(run, option, count, None, node) for option in value.options]
        return [either(*parts) for parts in zip(*ways, strict=True)]
    return [get_item(run, value, Constant(i if star is None or i < star else i - count), node) for i in range(count)]


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
