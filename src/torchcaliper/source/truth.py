"""Whether a value counts as true, where that is known."""

from __future__ import annotations

from torchcaliper.source.values import (
    Class,
    Collection,
    Constant,
    Either,
    External,
    Function,
    Module,
    Object,
    Table,
    Value,
)


def truth(value: Value | None) -> bool | None:
    """True or False for what is certain, None for the rest."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Class | Function | Module):
        return True
    if isinstance(value, Object):
        # torch's containers have a length; other objects hardly ever have one.
        return None if value.is_a("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict") else True
    if isinstance(value, Collection):
        return bool(value.items) if value.known else None
    if isinstance(value, Table):
        return True if value.items else None
    if isinstance(value, Either):
        known = {truth(option) for option in value.options}
        return known.pop() if len(known) == 1 else None
    return None


def is_none(value: Value | None) -> bool | None:
    """Whether a value is None, where that is known."""
    if isinstance(value, Constant):
        return value.value is None
    if isinstance(value, Class | Function | Module | Object | Collection | Table | External):
        return False
    if isinstance(value, Either):
        known = {is_none(option) for option in value.options}
        return known.pop() if len(known) == 1 else None
    return None
