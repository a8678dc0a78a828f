"""Shapes of NumPy's arrays, as far as the source tells them: data often begins as one."""

from __future__ import annotations

from torchcaliper.source.shapes import broadcast, nested_shape, shape_of, shape_of_sizes
from torchcaliper.source.values import Arguments, Collection, Constant, Object, Shape, Symbol, Value, constant

#: what draws or fills an array of a given size: at which position that size stands
_SIZED = {
    "uniform": 2,
    "normal": 2,
    "integers": 2,
    "randint": 2,
    "standard_normal": 0,
    "random": 0,
    "random_sample": 0,
    "poisson": 1,
    "exponential": 1,
    "choice": 1,
    "binomial": 2,
    "zeros": 0,
    "ones": 0,
    "empty": 0,
    "full": 0,
}
_ELEMENTWISE = frozenset(
    (
        "sin cos tan tanh exp log log1p sqrt abs absolute square sign floor ceil round rint clip asarray array copy "
        "ascontiguousarray zeros_like ones_like float32 float64 int64"
    ).split()
)
_GENERATORS = ("call:default_rng", "call:RandomState", "call:Generator")


def is_generator(value: Value | None) -> bool:
    """Whether a value draws NumPy's random numbers."""
    if isinstance(value, Symbol):
        return value.op in _GENERATORS
    return isinstance(value, Object) and value.is_a("numpy.random.RandomState", "numpy.random.Generator")


def shape_of_call(name: str, arguments: Arguments) -> Shape | None:
    """The shape of what a function of NumPy (or a method of its generators) gives, by its last name."""
    if arguments.open:
        return None
    if name in _SIZED:
        size = arguments.get("shape" if name in ("zeros", "ones", "empty", "full") else "size", _SIZED[name])
        return None if size is None or constant(size, 0) is None else shape_of_sizes([size])
    if name in ("rand", "randn"):
        return shape_of_sizes(arguments.positional)
    first = arguments.get("a", 0)
    if name in ("arange", "permutation") and len(arguments.positional) == 1:
        return shape_of_sizes([first]) if first is not None and _is_number(first) else shape_of(first)
    if name == "linspace":
        count = arguments.get("num", 2)
        return (50,) if count is None else shape_of_sizes([count])
    if name in ("stack", "concatenate", "column_stack"):
        return _joined(name, first, arguments)
    return nested_shape(first) if name in _ELEMENTWISE and first is not None else None


def _is_number(value: Value | None) -> bool:
    return isinstance(value, Constant) or (isinstance(value, Symbol) and value.op in ("parameter", "len", "size"))


def _joined(name: str, parts: Value | None, arguments: Arguments) -> Shape | None:
    if not isinstance(parts, Collection) or not parts.known or not parts.items:
        return None
    whole: Shape | None = shape_of(parts.items[0])
    for part in parts.items[1:]:
        whole = broadcast(whole, shape_of(part)) if name != "concatenate" else whole
    if whole is None:
        return None
    if name == "column_stack":
        return (whole[0], len(parts.items)) if len(whole) == 1 else None
    axis = constant(arguments.get("axis", 1), 0)
    if not isinstance(axis, int) or not -len(whole) - 1 <= axis <= len(whole):
        return None
    if name == "stack":
        axis %= len(whole) + 1
        return (*whole[:axis], len(parts.items), *whole[axis:])
    return tuple(None if i == axis % len(whole) else size for i, size in enumerate(whole))
