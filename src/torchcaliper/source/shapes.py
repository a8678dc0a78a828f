"""Shapes of tensors, as far as the source tells them.

A size is a number, or a symbol of its own (`Dim`) that is equal only to itself: the batch that a loader gives,
`x.size(0)`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from torchcaliper.source.layers import layer_option
from torchcaliper.source.values import (
    Collection,
    Constant,
    Dim,
    Object,
    Shape,
    Size,
    Symbol,
    Table,
    Value,
    constant,
    options,
)

if TYPE_CHECKING:
    from torchcaliper.source.interpreter import Interpreter
    from torchcaliper.source.trace import Context

#: operations whose result has the shape of their input, element by element or along one of its dims
ELEMENTWISE = frozenset(
    (
        "relu sigmoid tanh softmax log_softmax dropout dropout1d dropout2d dropout3d batch_norm layer_norm group_norm "
        "contiguous clone detach to float double half bfloat16 cpu cuda gelu silu leaky_relu elu identity exp log sqrt "
        "abs clamp neg masked_fill normalize requires_grad_ zeros_like ones_like randn_like rand_like buffer long int "
        "logsigmoid softplus data Parameter round pow argsort deepcopy clamp_ clip cumsum "
        "poisson bernoulli sin cos floor ceil sign tril triu square rsqrt log1p expm1"
    ).split()
)
_REDUCE = frozenset(
    ["mean", "sum", "argmax", "argmin", "std", "var", "amax", "amin", "logsumexp", "any", "all", "prod", "norm"]
)
_MADE = frozenset(["zeros", "ones", "empty", "rand", "randn"])


def shape_of(value: Value | None) -> Shape | None:
    """The shape of a value that is the same on every way to it."""
    found: Shape | None = None
    for option in options(value):
        shape = option.shape if isinstance(option, Symbol) else None
        if shape is None or (found is not None and len(found) != len(shape)):
            return None
        found = shape if found is None else tuple(a if a == b else None for a, b in zip(found, shape, strict=True))
    return found


def size_of(value: Value | None) -> Size:
    """The size that a value stands for as a number: 3, `x.size(0)`, `x.shape[-1]`."""
    if isinstance(value, Constant):
        return value.value if isinstance(value.value, int) and not isinstance(value.value, bool) else None
    if isinstance(value, Symbol) and value.op == "size" and value.inputs:
        shape = shape_of(value.inputs[0])
        dim = value.option("dim")
        if shape is not None and isinstance(dim, int) and -len(shape) <= dim < len(shape):
            return shape[dim]
        holder = value.inputs[0]
        if isinstance(holder, Symbol) and isinstance(dim, int):
            return _own(holder, dim)
    if isinstance(value, Symbol) and value.op == "len" and value.inputs:
        shape = shape_of(value.inputs[0])
        return shape[0] if shape else None
    return None


_OWN: dict[int, tuple[Symbol, dict[int, Dim]]] = {}


def _own(holder: Symbol, dim: int) -> Dim:
    """The size of a tensor whose number of dims is not known: the same symbol each time it is asked for."""
    if len(_OWN) > 20_000:
        _OWN.clear()
    _, dims = _OWN.setdefault(id(holder), (holder, {}))
    return dims.setdefault(dim, Dim(f"size({dim})"))


def shape_value(run: Interpreter, value: Value, node: ast.AST) -> Value:
    """`value.shape`: a tuple of sizes where the number of dims is known."""
    result = run.symbol("shape", node, (value,))
    shape = shape_of(value)
    if shape is None:
        return result
    sizes: list[Value] = []
    for dim, size in enumerate(shape):
        if isinstance(size, int):
            sizes.append(Constant(size))
        else:
            sizes.append(run.symbol("size", node, (value,), options={"dim": Constant(dim)}))
    return Collection("tuple", sizes, place=result.place)


def shape_of_item(result: Symbol, holder: Value, index: Value) -> None:
    """Fill in what `holder[index]` is: a size of `x.shape`, a column of a batch, a part of a tensor."""
    if isinstance(holder, Symbol) and holder.op in ("shape", "size") and not holder.option("dim"):
        result.op, result.inputs, result.options = "size", holder.inputs, {"dim": index}
        return
    if isinstance(holder, Symbol) and holder.op == "batch":
        result.shape = _column(holder, index)
        return
    if isinstance(holder, Symbol) and holder.op in PARTS:
        result.shape = shape_of_part(holder)
        return
    if isinstance(holder, Symbol) and holder.op in _WITH_INDICES and "dim" in holder.options:
        result.shape = shape_of_values(holder)
        return
    shape = shape_of(holder)
    if shape is None:
        return
    result.shape = _indexed(shape, index)


#: reductions that give values and their positions, where they are given a dim
_WITH_INDICES = ("max", "min", "median", "mode")


def shape_of_values(pair: Symbol) -> Shape | None:
    """The shape of both results of `x.max(dim)`."""
    reduces = pair.op in _WITH_INDICES and isinstance(pair.option("dim"), int)
    return _reduced(pair) if reduces else None


#: operations that give several parts of a tensor
PARTS = ("chunk", "split")


def shape_of_part(parts: Symbol) -> Shape | None:
    """The shape of one of the parts that `chunk` and `split` give."""
    source = shape_of(parts.inputs[0]) if parts.inputs else None
    dim, count = constant(parts.options.get("dim"), 0), constant(parts.options.get("chunks"))
    if source is None or not isinstance(dim, int) or not -len(source) <= dim < len(source):
        return None
    whole = source[dim]
    part: Size = whole // count if isinstance(whole, int) and isinstance(count, int) and count > 0 else None
    return tuple(part if i == dim % len(source) else size for i, size in enumerate(source))


def has_dims(shape: Symbol, count: int, now: Context) -> None:
    """`b, t, c = x.shape`: the tensor has three dims, or this would not go on."""
    holder = shape.inputs[0] if shape.inputs else None
    if not isinstance(holder, Symbol) or holder.shape is not None or shape.option("dim") is not None:
        return
    # Behind a branch (`if x.dim() == 3`) it is known of that way only.
    if holder.context is not None and holder.context.condition is now.condition:
        holder.shape = tuple(_own(holder, dim) for dim in range(count))


def _column(batch: Symbol, index: Value) -> Shape | None:
    """The shape of one part of a batch that a DataLoader over a TensorDataset gives."""
    sample = batch.options.get("sample")
    if sample is not None:
        return _part_of_sample(batch, sample, constant(index))
    loader = batch.inputs[0]
    if not isinstance(loader, Object):
        return None
    dataset = loader.arguments.get("dataset", 0)
    while isinstance(dataset, Object) and dataset.is_a("torch.utils.data.Subset"):
        dataset = dataset.arguments.get("dataset", 0)
    position = constant(index)
    if not isinstance(dataset, Object) or not dataset.is_a("torch.utils.data.TensorDataset"):
        return None
    if not isinstance(position, int) or position >= len(dataset.arguments.positional):
        return None
    shape = shape_of(dataset.arguments.positional[position])
    return None if not shape else (_own(batch, 0), *shape[1:])


def _part_of_sample(batch: Symbol, sample: Value, position: object) -> Shape | None:
    if isinstance(sample, Table):
        part = sample.items.get(position) if isinstance(position, str | int) else None
        return None if part is None else batched(batch, part)
    if isinstance(sample, Collection) and sample.known and isinstance(position, int):
        return batched(batch, sample.items[position]) if -len(sample.items) <= position < len(sample.items) else None
    return None


def batched(batch: Symbol, sample: Value) -> Shape | None:
    """The shape of samples of one shape that were stacked; of numbers, a vector."""
    number = isinstance(sample, Constant) and isinstance(sample.value, int | float)
    if number or (isinstance(sample, Symbol) and sample.op in ("item", "len")):
        return (_own(batch, 0),)
    shape = sample.shape if isinstance(sample, Symbol) else None
    return None if shape is None else (_own(batch, 0), *shape)


def _indexed(shape: Shape, index: Value) -> Shape | None:
    parts = index.items if isinstance(index, Collection) and index.kind == "tuple" else [index]
    result: list[Size] = []
    rest = list(shape)
    for position, part in enumerate(parts):
        if isinstance(part, Constant) and part.value is None:
            result.append(1)
            continue
        if isinstance(part, Constant) and part.value is Ellipsis:
            taken = sum(1 for p in parts[position + 1 :] if not (isinstance(p, Constant) and p.value is None))
            keep = len(rest) - taken
            if keep < 0:
                return None
            result += rest[:keep]
            rest = rest[keep:]
            continue
        if not rest:
            return None
        size = rest.pop(0)
        if isinstance(part, Constant) and isinstance(part.value, int) and not isinstance(part.value, bool):
            continue
        if isinstance(part, Constant) and isinstance(part.value, slice):
            whole = part.value == slice(None, None, None)
            result.append(size if whole else _sliced(size, part.value))
            continue
        if isinstance(part, Symbol) and part.op == "slice":
            result.append(None)
            continue
        if isinstance(part, Symbol) and part.op in ("index", "range", "element") and part.shape is None:
            return None
        # Indexing by a tensor: its dims take the place of this one, where that is one vector.
        own = shape_of(part)
        if own is None:
            return None
        if len(own) == 0:
            continue
        if len(own) != 1 or len(parts) > 1:
            return None
        result += own
    return (*result, *rest)


def _sliced(size: Size, taken: slice) -> Size:
    if isinstance(size, int):
        try:
            return len(range(*taken.indices(size)))
        except (TypeError, ValueError):
            return None
    return None


def shape_of_binary(result: Symbol, left: Value, right: Value) -> None:
    """The shape of a binary operation: broadcast."""
    if result.op == "matmul":
        result.shape = _matmul(shape_of(left), shape_of(right))
        return
    a = () if isinstance(left, Constant) else shape_of(left)
    b = () if isinstance(right, Constant) else shape_of(right)
    if isinstance(left, Symbol) and left.op in ("item", "len", "size"):
        a = ()
    if isinstance(right, Symbol) and right.op in ("item", "len", "size"):
        b = ()
    result.shape = broadcast(a, b)


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape that two shapes broadcast to; sizes that cannot be told apart from 1 are None."""
    if a is None or b is None:
        return None
    length = max(len(a), len(b))
    left, right = (1,) * (length - len(a)) + tuple(a), (1,) * (length - len(b)) + tuple(b)
    result: list[Size] = []
    for x, y in zip(left, right, strict=True):
        if x == y or y == 1:
            result.append(x)
        elif x == 1:
            result.append(y)
        else:
            result.append(None)
    return tuple(result)


def _matmul(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is not None and len(a) >= 2 and b is not None and len(b) == 1:
        return a[:-1]
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return None
    lead = broadcast(a[:-2], b[:-2])
    return None if lead is None else (*lead, a[-2], b[-1])


def infer_shape(result: Symbol) -> None:
    """Set the shape of an operation's result, where its inputs and arguments tell it."""
    op = result.op
    if op in ELEMENTWISE:
        result.shape = shape_of(result.inputs[0]) if result.inputs else None
    elif op in _RULES:
        result.shape = _RULES[op](result)
    elif op in _REDUCE:
        result.shape = _reduced(result)
    elif op in _MADE:
        result.shape = shape_of_sizes(result.inputs)
    if op == "size":
        dim = result.options.get("dim") or (result.inputs[1] if len(result.inputs) > 1 else None)
        result.inputs = result.inputs[:1]
        result.options = {} if dim is None else {"dim": dim}


def shape_of_sizes(inputs: Iterable[Value]) -> Shape | None:
    """The shape that sizes, or one tuple of them, ask for: `zeros(3, n)`, `zeros((3, n))`."""
    sizes = list(inputs)
    if len(sizes) == 1 and isinstance(sizes[0], Collection) and sizes[0].known:
        sizes = list(sizes[0].items)
    return tuple(size_of(size) if not isinstance(size, Symbol) else _size_or_own(size) for size in sizes) or None


def _size_or_own(value: Symbol) -> Size:
    known = size_of(value)
    # A number that is not known, but the same wherever this very value is used.
    return known if known is not None else _own(value, 0)


def _sizes(result: Symbol) -> list[Size] | None:
    """The sizes that `view` and `reshape` were given."""
    given: list[Value] = list(result.inputs[1:])
    if len(given) == 1 and isinstance(given[0], Collection) and given[0].known:
        given = list(given[0].items)
    if not given:
        return None
    return [(_size_or_own(g) if isinstance(g, Symbol) else size_of(g)) for g in given]


def _view(result: Symbol) -> Shape | None:
    sizes = _sizes(result)
    source = shape_of(result.inputs[0]) if result.inputs else None
    if sizes is None:
        return None
    if -1 in sizes:
        hole = sizes.index(-1)
        sizes[hole] = _rest(source, [s for i, s in enumerate(sizes) if i != hole])
    return tuple(sizes)


def _rest(source: Shape | None, others: list[Size]) -> Size:
    """What -1 stands for."""
    if source is None:
        return None
    left = list(source)
    number = 1
    for size in others:
        if size in left and not isinstance(size, int) and size is not None:
            left.remove(size)
        elif isinstance(size, int):
            number *= size
        else:
            return None
    symbols = [s for s in left if not isinstance(s, int)]
    product = 1
    for s in left:
        if isinstance(s, int):
            product *= s
    if not symbols and number and product % number == 0:
        return product // number
    if len(symbols) == 1 and product == number:
        return symbols[0]
    return None


def _written_out(result: Symbol) -> Shape | None:
    """The shape of `torch.tensor(...)`: of what is written out, or of the array that is given."""
    return nested_shape(result.inputs[0]) if result.inputs else None


def nested_shape(value: Value) -> Shape | None:
    """The shape of numbers written out in lists, or of a tensor."""
    if isinstance(value, Constant):
        return ()
    if isinstance(value, Symbol):
        return () if value.op in ("item", "len", "index") else value.shape
    if isinstance(value, Collection) and value.known and value.items and value.kind in ("list", "tuple"):
        inner = nested_shape(value.items[0])
        return None if inner is None else (len(value.items), *inner)
    return None


def _vector(result: Symbol) -> Shape | None:
    """`arange(n)`, `randperm(n)`: one dim; its size where one number is given."""
    given = result.inputs
    return (_number(given[0]),) if len(given) == 1 else (None,) if given else None


def _random_integers(result: Symbol) -> Shape | None:
    """`randint(high, size)`, `randint(low, high, size)`."""
    size = result.options.get("size") or (result.inputs[-1] if result.inputs else None)
    return shape_of_sizes([size]) if isinstance(size, Collection) else None


def _linear(result: Symbol) -> Shape | None:
    source = shape_of(result.inputs[0]) if result.inputs else None
    if not source or not isinstance(result.by, Object):
        return None
    return (*source[:-1], _number(layer_option(result.by, "out_features")))


def _conv(result: Symbol) -> Shape | None:
    if not isinstance(result.by, Object) or not result.inputs:
        return None
    source = shape_of(result.inputs[0])
    dims = int(result.op[-2])
    out = _number(layer_option(result.by, "out_channels"))
    lead: Size = None
    if source is not None and len(source) == dims + 2:
        lead = source[0]
    elif isinstance(result.inputs[0], Symbol):
        lead = _own(result.inputs[0], 0)
    space: tuple[Size, ...] = tuple(Dim("space") for _ in range(dims))
    if source is not None and len(source) == dims + 2:
        space = tuple(_convolved(result.by, result.op, size) for size in source[2:])
    return (lead, out, *space)


def _pooled(result: Symbol) -> Shape | None:
    """Adaptive pooling: the sizes that it is told to give."""
    source = shape_of(result.inputs[0]) if result.inputs else None
    if source is None or not isinstance(result.by, Object):
        return None
    dims = int(result.op[-2])
    size = size_of(result.by.arguments.get("output_size", 0))
    return (*source[:-dims], *([size] * dims)) if len(source) > dims else None


def _convolved(layer: Object, op: str, size: Size) -> Size:
    """What a convolution makes of one size, where its options are plain numbers."""
    given = {name: constant(layer_option(layer, name)) for name in ("kernel_size", "stride", "padding", "dilation")}
    kernel, padding = given["kernel_size"], given["padding"] or 0
    stride, dilation = given["stride"] or 1, given["dilation"] or 1
    if padding == "same":
        return size
    numbers = (kernel, stride, padding, dilation)
    if op.startswith("conv_transpose") or not all(isinstance(number, int) for number in numbers):
        return Dim("space")
    shrinks = dilation * (kernel - 1) - 2 * padding
    if shrinks == 0 and stride == 1:
        return size
    return (size - shrinks - 1) // stride + 1 if isinstance(size, int) else Dim("space")


def _number(value: Value | None) -> Size:
    if isinstance(value, Symbol):
        return _size_or_own(value)
    return size_of(value)


def _embedding(result: Symbol) -> Shape | None:
    source = shape_of(result.inputs[0]) if result.inputs else None
    if source is None or not isinstance(result.by, Object):
        return None
    return (*source, _number(layer_option(result.by, "embedding_dim")))


def _flatten(result: Symbol) -> Shape | None:
    source = shape_of(result.inputs[0]) if result.inputs else None
    default = 1 if isinstance(result.by, Object) else 0
    start, end = constant(result.options.get("start_dim"), default), constant(result.options.get("end_dim"), -1)
    if source is None or not isinstance(start, int) or not isinstance(end, int):
        return None
    start, end = start % len(source), end % len(source)
    if start >= end:
        return source
    product: Size = 1
    for size in source[start : end + 1]:
        if isinstance(size, int) and isinstance(product, int):
            product *= size
        elif size == 1 or product == 1:
            product = size if product == 1 else product
        else:
            product = Dim("product")
    return (*source[:start], product, *source[end + 1 :])


def _squeeze(result: Symbol) -> Shape | None:
    source = shape_of(result.inputs[0]) if result.inputs else None
    if source is None:
        return None
    if "dim" not in result.options:
        # A size that is not known might be 1.
        return tuple(s for s in source if s != 1) if None not in source else None
    dim = result.option("dim")
    if not isinstance(dim, int) or not -len(source) <= dim < len(source):
        return None
    dim %= len(source)
    if source[dim] is None:
        return None
    return source[:dim] + source[dim + 1 :] if source[dim] == 1 else source


def _unsqueeze(result: Symbol) -> Shape | None:
    source = shape_of(result.inputs[0]) if result.inputs else None
    dim = result.option("dim")
    if source is None or not isinstance(dim, int):
        return None
    dim %= len(source) + 1
    return (*source[:dim], 1, *source[dim:])


def _transpose(result: Symbol) -> Shape | None:
    source = shape_of(result.inputs[0]) if result.inputs else None
    if source is None:
        return None
    first, second = result.option("dim0"), result.option("dim1")
    if "dim0" not in result.options:
        first, second = -2, -1
    size = len(source)
    if (
        not isinstance(first, int)
        or not isinstance(second, int)
        or not (-size <= first < size and -size <= second < size)
    ):
        return None
    swapped = list(source)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    return tuple(swapped)


def _permute(result: Symbol) -> Shape | None:
    source = shape_of(result.inputs[0]) if result.inputs else None
    order = _sizes(result)
    if source is None or order is None or len(order) != len(source):
        return None
    if not all(isinstance(dim, int) and -len(source) <= dim < len(source) for dim in order):
        return None
    return tuple(source[dim] for dim in order if isinstance(dim, int))


def _reduced(result: Symbol) -> Shape | None:
    if not result.inputs:
        return None
    given = result.options.get("dim") or (result.inputs[1] if len(result.inputs) > 1 else None)
    keep = bool(constant(result.options.get("keepdim")))
    if given is None or constant(given, 0) is None:
        return ()
    source = shape_of(result.inputs[0])
    if source is None:
        return None
    dims = [constant(d) for d in (given.items if isinstance(given, Collection) else [given])]
    if not all(isinstance(d, int) and -len(source) <= d < len(source) for d in dims):
        return None
    gone = {d % len(source) for d in dims}
    return tuple(1 if i in gone else s for i, s in enumerate(source) if keep or i not in gone)


def _loss(result: Symbol) -> Shape | None:
    return () if result.option("reduction") in (None, "mean", "sum", "batchmean") else None


def _cat(result: Symbol) -> Shape | None:
    parts = result.inputs[0] if result.inputs else None
    if not isinstance(parts, Collection):
        return None
    shapes = [shape_of(part) for part in parts.all()]
    dim = constant(result.options.get("dim"), 0)
    if not shapes or not isinstance(dim, int) or any(s is None or len(s) != len(shapes[0] or ()) for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    rank = len(known[0])
    if result.op == "stack":
        dim %= rank + 1
        count: Size = len(known) if parts.known else Dim("count")
        return (*known[0][:dim], count, *known[0][dim:])
    if not -rank <= dim < rank:
        return None
    dim %= rank
    sizes = [s[dim] for s in known]
    total: Size = sum(s for s in sizes if isinstance(s, int)) if all(isinstance(s, int) for s in sizes) else None
    return (*known[0][:dim], total if parts.known else None, *known[0][dim + 1 :])


def _as_input(result: Symbol) -> Shape | None:
    return shape_of(result.inputs[0]) if result.inputs else None


def _elementwise(result: Symbol) -> Shape | None:
    if len(result.inputs) != 2:
        return None
    shape_of_binary(result, *result.inputs)
    return result.shape


def letters(made: Symbol) -> tuple[list[str], str] | None:
    """The letters of an einsum's operands and of its result; None where they are not written out."""
    equation = constant(made.inputs[0]) if made.inputs else None
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return None
    left, _, right = equation.replace(" ", "").partition("->")
    operands = left.split(",")
    return (operands, right) if len(operands) == len(made.inputs) - 1 else None


def _einsum(result: Symbol) -> Shape | None:
    written = letters(result)
    if written is None:
        return None
    sizes: dict[str, Size] = {}
    for operand, value in zip(written[0], result.inputs[1:], strict=True):
        shape = shape_of(value)
        for letter, size in zip(operand, shape or (), strict=False):
            if sizes.get(letter) is None:
                sizes[letter] = size
    return tuple(sizes.get(letter) for letter in written[1])


_RULES: dict[str, Callable[[Symbol], Shape | None]] = {
    "linear": _linear,
    **{f"adaptiveavgpool{n}d": _pooled for n in (1, 2, 3)},
    **{f"adaptivemaxpool{n}d": _pooled for n in (1, 2, 3)},
    "einsum": _einsum,
    "gather": lambda r: shape_of(r.options.get("index") or (r.inputs[2] if len(r.inputs) > 2 else None)),
    "transformerencoderlayer": _as_input,
    "transformerencoder": _as_input,
    **dict.fromkeys(("add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"), _elementwise),
    "tensor": _written_out,
    "from_numpy": _written_out,
    "as_tensor": _written_out,
    "arange": _vector,
    "linspace": lambda r: (_number(r.inputs[2]),) if len(r.inputs) > 2 else None,
    "randperm": _vector,
    "randint": _random_integers,
    **{f"conv{n}d": _conv for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _conv for n in (1, 2, 3)},
    "embedding": _embedding,
    "flatten": _flatten,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "transpose": _transpose,
    "permute": _permute,
    "view": _view,
    "reshape": _view,
    "cat": _cat,
    "stack": _cat,
    "cross_entropy": _loss,
    "mse_loss": _loss,
    "nll_loss": _loss,
    "l1_loss": _loss,
    "smooth_l1_loss": _loss,
    "binary_cross_entropy": _loss,
    "binary_cross_entropy_with_logits": _loss,
    "kl_div": _loss,
    "matmul": lambda r: _matmul(shape_of(r.inputs[0]), shape_of(r.inputs[1])) if len(r.inputs) > 1 else None,
    "bmm": lambda r: _matmul(shape_of(r.inputs[0]), shape_of(r.inputs[1])) if len(r.inputs) > 1 else None,
}
