"""Every rule is in the catalogue, has its page and is proven both ways."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import torchcaliper.report
from torchcaliper.rule import Rule, Stage, all_rules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(torchcaliper.report.__file__).parent.parent
PROOFS = Path(__file__).parent.parent / "proofs"
SECTIONS = ["What it finds", "Why it matters", "Faulty", "Sound", "When it is silent", "References"]


def catalogue() -> dict[str, dict[str, Any]]:
    stages = tomllib.loads((PACKAGE / "catalogue.toml").read_text(encoding="utf-8"))
    return {code: entry for stage in stages.values() for code, entry in stage.items()}


def test_the_catalogue_is_well_formed() -> None:
    names = [entry["name"] for entry in catalogue().values()]
    assert len(names) == len(set(names))
    for code, entry in catalogue().items():
        assert re.fullmatch(r"[A-Z][0-9]{3}", code)
        assert Stage(code[0])
        assert set(entry) == {"name", "severity", "by", "what"}
        assert entry["severity"] in ("error", "warning", "advice")


def rules() -> list[Any]:
    return [pytest.param(rule, id=rule.code) for rule in all_rules()]


@pytest.mark.parametrize("rule", rules())
def test_a_rule_is_the_one_of_the_catalogue(rule: Rule) -> None:
    entry = catalogue()[rule.code]
    assert (rule.name, str(rule.severity)) == (entry["name"], entry["severity"])
    assert set(rule.explains) <= set(catalogue())


@pytest.mark.parametrize("rule", rules())
def test_a_rule_stands_in_a_file_of_its_own(rule: Rule) -> None:
    stage, file = type(rule).__module__.split(".")[-2:]
    assert (stage, file) == (rule.stage.name.lower(), rule.name.replace("-", "_"))


@pytest.mark.parametrize("rule", rules())
def test_a_rule_has_its_page(rule: Rule) -> None:
    assert rule.summary
    assert not rule.summary.startswith("#")
    assert re.findall(r"^## (.*)$", rule.page, re.MULTILINE) == SECTIONS
    for section in re.split(r"^## .*$", rule.page, flags=re.MULTILINE)[1:]:
        assert section.strip()


@pytest.mark.parametrize("rule", rules())
def test_a_rule_is_proven_both_ways(rule: Rule) -> None:
    for kind in ("faulty", "sound"):
        assert list((PROOFS / rule.code).glob(f"{kind}*.py")), f"tests/proofs/{rule.code} has no {kind}*.py"
