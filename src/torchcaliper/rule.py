"""What a rule is, the registry of all rules, and which of several findings on one cause is told."""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from torchcaliper.findings import Edit, Evidence, Finding, Fix, Location, Severity, Text

if TYPE_CHECKING:
    from torchcaliper.run.record import Run
    from torchcaliper.source.trace import Reading


class Stage(enum.Enum):
    """The part of a project a rule belongs to; the letter of its code."""

    ENVIRONMENT = "E"
    DATA = "D"
    MODEL = "M"
    LOSS = "L"
    AUTOGRAD = "A"
    OPTIMIZER = "O"
    PRECISION = "P"
    CHECKPOINT = "C"
    GRAPH = "G"
    DEVICE = "V"
    RANKS = "R"
    EXPORT = "X"
    OPERATOR = "K"


class Rule:
    """One fault: its page (the class docstring), its metadata and its judgement for every subject that can find it.

    A rule judges a record and never gathers: `judge_run` reads a `Run` (plain data) and yields findings.
    It is called again and again while the program runs and once more at its end, so it must be cheap, and it must
    stay silent until what the record holds is enough to be sure. `judge_source` reads what following a file of source
    has shown, once for each file; what the source does not tell for certain is not reported.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    #: codes whose findings on the same subject are consequences of this one and become its evidence
    explains: ClassVar[tuple[str, ...]] = ()

    def judge_run(self, run: Run) -> Iterator[Finding]:
        """Findings of a watched run; none by default."""
        return iter(())

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        """Findings of a file of source, from what following it has shown; none by default."""
        return iter(())

    @property
    def stage(self) -> Stage:
        return Stage(self.code[0])

    @property
    def page(self) -> str:
        """The rule's page in Markdown."""
        return inspect.cleandoc(type(self).__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.partition("\n")[0]

    def finding(
        self,
        message: str,
        *,
        at: Location | None,
        evidence: Iterable[Evidence] = (),
        fix: str | None = None,
        edits: Iterable[Edit] = (),
        safe: bool = True,
        severity: Severity | None = None,
        count: int = 1,
        first_step: int | None = None,
        subjects: Iterable[str] = (),
        **values: Any,
    ) -> Finding:
        """A finding of this rule; `message` and `fix` are templates over `values` and `count`.

        `edits` do what the fix says; `safe` as in `Fix`.
        """
        values = {"count": count, **values}
        return Finding(
            code=self.code,
            name=self.name,
            severity=self.severity if severity is None else severity,
            message=Text(message, values),
            location=at,
            evidence=tuple(evidence),
            fix=Fix(Text(fix, values), tuple(edits), safe) if fix else None,
            count=count,
            first_step=first_step,
            subjects=frozenset(subjects),
        )


def evidence(template: str, at: Location | None = None, **values: Any) -> Evidence:
    """Shorthand for a piece of evidence."""
    return Evidence(Text(template, values), at)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule under `torchcaliper.rules`, by code. Importing them imports no torch."""
    package = importlib.import_module("torchcaliper.rules")
    found: dict[str, Rule] = {}
    for info in pkgutil.walk_packages(package.__path__, "torchcaliper.rules."):
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == info.name:
                if value.code in found:
                    raise RuntimeError(f"two rules claim {value.code}")
                found[value.code] = value()
    return tuple(found[code] for code in sorted(found))


def fold(findings: Iterable[Finding]) -> list[Finding]:
    """One cause, one finding: what another finding on a common subject explains becomes its evidence."""
    told = list(findings)
    explains = {rule.code: rule.explains for rule in all_rules()}
    absorbed: dict[int, int] = {}
    for i, cause in enumerate(told):
        for j, effect in enumerate(told):
            if i == j or absorbed.get(i) == j:
                continue
            if effect.code in explains.get(cause.code, ()) and cause.subjects & effect.subjects:
                absorbed.setdefault(j, i)
    result = []
    for i, finding in enumerate(told):
        if i in absorbed:
            continue
        extra = [told[j] for j, cause in absorbed.items() if _root(absorbed, cause) == i]
        also = tuple(
            Evidence(Text("{code}: {message}", {"code": e.code, "message": e.message}), e.location) for e in extra
        )
        result.append(replace(finding, evidence=finding.evidence + also) if also else finding)
    return result


def _root(absorbed: dict[int, int], index: int) -> int:
    seen = set()
    while index in absorbed and index not in seen:
        seen.add(index)
        index = absorbed[index]
    return index
