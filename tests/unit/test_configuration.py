"""[tool.torchcaliper] and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchcaliper import selection
from torchcaliper.configuration import Settings, read_settings
from torchcaliper.errors import UsageError
from torchcaliper.findings import Severity
from torchcaliper.rule import Rule


class GradientsNeverCleared(Rule):
    """Gradients are never cleared."""

    code, name, severity = "A103", "gradients-never-cleared", Severity.ERROR


@pytest.fixture(autouse=True)
def _one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "all_rules", lambda: (GradientsNeverCleared(),))


def configure(folder: Path, table: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text(f"[tool.torchcaliper]\n{table}\n", encoding="utf-8")
    return file


def test_without_a_file_everything_is_told(tmp_path: Path) -> None:
    configure(tmp_path, "advice = true")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[project]\n")
    assert read_settings(folder) == Settings()


def test_every_key_is_read_from_the_nearest_file_upward(tmp_path: Path) -> None:
    configure(
        tmp_path, 'select = ["a103", "O"]\nignore = ["A1"]\nfail-on = "warning"\nadvice = true\nbaseline = "known.json"'
    )
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    assert read_settings(folder) == Settings(("A103", "O"), ("A1",), Severity.WARNING, True, tmp_path / "known.json")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("colour = 1", "colour: unknown key"),
        ("fail_on = 'error'", "fail_on: unknown key"),
        ("select = 'A103'", "select: must be a list"),
        ("select = [1]", "select: must be a list"),
        ("select = ['A1003']", "select: no rule .*near: A103"),
        ("ignore = ['Z']", "ignore: no rule"),
        ("fail-on = 'bad'", "fail-on: unknown severity"),
        ("fail-on = 2", "fail-on: must be a string"),
        ("advice = 'yes'", "advice: must be true or false"),
        ("baseline = 1", "baseline: must be a string"),
        ("select = ", "not valid TOML"),
    ],
)
def test_mistakes_are_one_line_with_file_and_key(tmp_path: Path, table: str, message: str) -> None:
    file = configure(tmp_path, table)
    with pytest.raises(UsageError, match=message) as error:
        read_settings(tmp_path)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["tool = 1", "[tool]\ntorchcaliper = 1"])
def test_a_table_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content)
    if content == "tool = 1":
        assert read_settings(tmp_path) == Settings()
    else:
        with pytest.raises(UsageError, match="must be a table"):
            read_settings(tmp_path)


def test_the_command_line_overrides(tmp_path: Path) -> None:
    known = Settings(("O",), ("A1", "O2"), Severity.ERROR, False, tmp_path)
    assert known.overridden() == known
    assert known.overridden(advice=True).advice
    assert known.overridden(fail_on=Severity.ADVICE).fail_on is Severity.ADVICE
    assert known.overridden(baseline="x.json").baseline == Path("x.json").absolute()
    assert known.overridden(ignore="A103,P").ignore == ("A103", "P")
    # What is asked for by name is not held back by a broader `ignore` of the configuration.
    assert known.overridden(select="A103") == Settings(("A103",), ("O2",), Severity.ERROR, False, tmp_path)
    assert known.overridden(select="A").ignore == ("A1", "O2")
    for option in ("select", "ignore"):
        with pytest.raises(UsageError, match=f"--{option}"):
            known.overridden(**{option: "A999"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings", [Settings(), Settings(("A",), ("O1",), Severity.ADVICE, True, Path("known.json").absolute())]
)
def test_settings_travel_as_json(settings: Settings) -> None:
    options = {"format": "json", "quiet": True, **settings.to_options()}
    assert Settings.from_options(json.loads(json.dumps(options))) == settings


def test_missing_options_are_defaults() -> None:
    assert Settings.from_options({}) == Settings()
