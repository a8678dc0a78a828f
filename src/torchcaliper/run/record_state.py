"""Records of states loaded into modules. Part of `torchcaliper.run.record`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class StateLoad:
    """`load_state_dict` that left keys of the module or of the state aside, or failed over them."""

    module: str  # class
    site: int | None
    strict: bool
    failed: bool = False  # it raised
    uncaught: bool = False
    message: str = ""
    #: what it returned (the missing and unexpected keys) is used by the program: printed, checked, handed on
    checked: bool | None = None  # None: the source does not tell
    keys: int = 0  # parameters of the module
    loaded: int = 0  # of them, those that the state had a value for
    missing: list[str] = field(default_factory=list)  # parameters, at most some
    unexpected: list[str] = field(default_factory=list)
    missing_count: int = 0
    unexpected_count: int = 0
    #: a prefix that the names of the state have and the module's have not ("module."), or the reverse
    state_prefix: str = ""
    module_prefix: str = ""
    prefix_count: int = 0  # missing parameters that it explains, by name and shape
    #: pairs (in the state, in the module) of near names and equal shape
    renamed: list[list[str]] = field(default_factory=list)
    #: shapes that differ: (name, in the state, in the module)
    shapes: list[list[str]] = field(default_factory=list)
    #: the comprehension that picks the entries whose names the module has, and lets the others go
    filter_site: int | None = None
    times: int = 0
    step: int = 0


@dataclass(slots=True)
class States:
    loads: list[StateLoad] = field(default_factory=list)
