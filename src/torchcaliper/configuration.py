"""Settings: what is told and how strictly, from pyproject.toml and the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torchcaliper.errors import UsageError
from torchcaliper.findings import Severity
from torchcaliper.selection import check_codes, parse_codes


@dataclass(frozen=True, slots=True)
class Settings:
    """What is told. Codes may be prefixes; no `select` means every rule."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = None
    advice: bool = False
    baseline: Path | None = None
    #: files and folders that lint leaves out
    exclude: tuple[str, ...] = ()

    def overridden(
        self,
        *,
        select: str | None = None,
        ignore: str | None = None,
        fail_on: Severity | None = None,
        advice: bool = False,
        baseline: str | None = None,
    ) -> Settings:
        """These settings with what the command line gave (as it was written) in their place.

        UsageError for unknown codes.
        """
        settings = self
        if select is not None:
            chosen = parse_codes(select)
            check_codes(chosen, "--select")
            # Who asks for A103 by name gets it, though the configuration ignores A1; who asks for A does not.
            kept = tuple(known for known in self.ignore if not any(code.startswith(known) for code in chosen))
            settings = replace(settings, select=chosen, ignore=kept)
        if ignore is not None:
            unwanted = parse_codes(ignore)
            check_codes(unwanted, "--ignore")
            settings = replace(settings, ignore=unwanted)
        if fail_on is not None:
            settings = replace(settings, fail_on=fail_on)
        if baseline is not None:
            settings = replace(settings, baseline=Path(baseline).absolute())
        return replace(settings, advice=settings.advice or advice)

    def to_options(self) -> dict[str, Any]:
        """Plain data for JSON; `from_options` gives equal settings."""
        return {
            "select": list(self.select),
            "ignore": list(self.ignore),
            "fail_on": None if self.fail_on is None else str(self.fail_on),
            "advice": self.advice,
            "baseline": None if self.baseline is None else str(self.baseline),
        }

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Settings:
        """The settings in `options`; missing ones are defaults and other keys are left alone."""
        fail_on, baseline = options.get("fail_on"), options.get("baseline")
        return cls(
            select=tuple(options.get("select") or ()),
            ignore=tuple(options.get("ignore") or ()),
            fail_on=None if fail_on is None else Severity.parse(fail_on),
            advice=bool(options.get("advice")),
            baseline=None if baseline is None else Path(baseline),
        )


def read_settings(folder: Path) -> Settings:
    """`[tool.torchcaliper]` of the nearest pyproject.toml, from `folder` upward. UsageError when it is not right."""
    for candidate in (folder, *folder.parents):
        file = candidate / "pyproject.toml"
        if file.is_file():
            return _from_table(_table(file), file)
    return Settings()


def _table(file: Path) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file} is not valid TOML: {error}") from None
    tool = document.get("tool", {})
    table = tool.get("torchcaliper", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"{file}: [tool.torchcaliper] must be a table")
    return table


def _from_table(table: Mapping[str, Any], file: Path) -> Settings:
    readers: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
        "select": ("select", _codes),
        "ignore": ("ignore", _codes),
        "fail-on": ("fail_on", _severity),
        "advice": ("advice", _boolean),
        "baseline": ("baseline", lambda value, origin: file.parent / _string(value, origin)),
        "exclude": ("exclude", _patterns),
    }
    values: dict[str, Any] = {}
    for key, value in table.items():
        origin = f"{file}: [tool.torchcaliper] {key}"
        if key not in readers:
            raise UsageError(f"{origin}: unknown key (known: {', '.join(readers)})")
        name, reader = readers[key]
        values[name] = reader(value, origin)
    return Settings(**values)


def _codes(value: Any, origin: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f'{origin}: must be a list of codes, such as ["A103", "O1"]')
    codes = tuple(code for item in value for code in parse_codes(item))
    check_codes(codes, origin)
    return codes


def _patterns(value: Any, origin: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f'{origin}: must be a list of patterns, such as ["generated", "*_pb2.py"]')
    return tuple(value)


def _severity(value: Any, origin: str) -> Severity:
    try:
        return Severity.parse(_string(value, origin))
    except ValueError as error:
        raise UsageError(f"{origin}: {error}") from None


def _string(value: Any, origin: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{origin}: must be a string")
    return value


def _boolean(value: Any, origin: str) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{origin}: must be true or false")
    return value
