"""D118: a split or an order that comes from hash() or from a set."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Collection, Constant, Symbol, Value, name_of, options


class HashOrderDependence(Rule):
    """A split or class order comes from `hash()` or from the order of a set.

    ## What it finds
    `hash(text) % n`, which decides about a sample, and numbers given to the members of a set of texts in its order
    (`enumerate(set(names))`, `list(set(names)).index(...)`).

    ## Why it matters
    Python salts the hash of texts anew in each process. The next run has another split, with test samples among those
    it was trained on; a served model has its classes in another order than the trained one.

    ## Faulty
    ```python
    test = [name for name in names if hash(name) % 10 == 0]
    classes = {name: i for i, name in enumerate(set(labels))}
    ```

    ## Sound
    ```python
    test = [name for name in names if zlib.crc32(name.encode()) % 10 == 0]
    classes = {name: i for i, name in enumerate(sorted(set(labels)))}
    ```

    ## When it is silent
    For numbers, whose hash is the same everywhere; for sets that are sorted; where `PYTHONHASHSEED` is set.

    ## References
    * https://docs.python.org/3/reference/datamodel.html#object.__hash__
    """

    code = "D118"
    name = "hash-order-dependence"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        if "PYTHONHASHSEED" in reading.file.text:
            return
        hashes = [e for e in reading.events("hash") if e.full == "builtins.hash" and e.arguments.positional]
        decides = _remainders(reading.file.tree) if hashes else set()
        told: set[int] = set()
        for event in hashes:
            if id(event.node) not in decides or id(event.node) in told or not _is_text(event.arguments.positional[0]):
                continue
            told.add(id(event.node))
            yield self.finding(
                "hash() of a text is another number in every process: what it decides is another thing in each run",
                at=event.location,
                fix="zlib.crc32(text.encode()), which is the same everywhere",
            )
        for event in reading.events("enumerate_set"):
            if id(event.node) in told or not _is_text(event.arguments.positional[0]):
                continue
            told.add(id(event.node))
            yield self.finding(
                "the order of a set of texts is another one in every process: so are the numbers given here",
                at=event.location,
                fix="enumerate(sorted(...))",
            )


def _remainders(tree: ast.AST) -> set[int]:
    """The calls whose result is divided with a remainder, by id."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            for inner in ast.walk(node.left):
                if isinstance(inner, ast.Call):
                    found.add(id(inner))
    return found


#: calls that give texts
_TEXTS = frozenset("format call:str call:basename call:stem call:join call:readline call:strip call:lower".split())


def _is_text(value: Value | None, depth: int = 0) -> bool:
    """Whether a value is a text for certain."""
    found = False
    for option in options(value):
        if isinstance(option, Constant):
            if not isinstance(option.value, str):
                return False
        elif isinstance(option, Collection):
            parts = list(option.all())
            if option.kind != "tuple" or not any(_is_text(part, depth + 1) for part in parts) or depth > 3:
                return False
        elif isinstance(option, Symbol):
            annotation = option.options.get("annotation")
            if option.op not in _TEXTS and name_of(annotation) != "builtins.str":
                return False
        else:
            return False
        found = True
    return found
