"""Names and what they are bound to, as Python looks them up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchcaliper.source.values import Value

if TYPE_CHECKING:
    from torchcaliper.source.file import SourceFile


@dataclass(eq=False, slots=True)
class Scope:
    """The names of a file, a class body or a call of a function. Class bodies are not seen from functions in them."""

    file: SourceFile
    parent: Scope | None = None
    is_class: bool = False
    names: dict[str, Value] = field(default_factory=dict)
    #: names that `global` and `nonlocal` send elsewhere
    elsewhere: dict[str, Scope] = field(default_factory=dict)
    #: full names of outside modules whose every name was imported (`from torch.nn import *`)
    starred: list[str] = field(default_factory=list)

    def find(self, name: str) -> Value | None:
        """What a name stands for here; None when it is bound nowhere in the file."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.names.get(name)
            if value is not None and (scope is self or not scope.is_class):
                return value
            scope = scope.parent
        return None

    def holder(self, name: str) -> Scope:
        """The scope that an assignment to a name changes."""
        return self.elsewhere.get(name, self)

    @property
    def top(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope
