"""The pytest plugin: `pytest --caliper` watches every test and fails those whose training is faulty.

`--caliper` or `--caliper=error` fails a test on findings that are errors, `--caliper=warning` on warnings too, and
`--caliper=report` fails none; all findings are listed at the end. `@pytest.mark.caliper_ignore("A103")` on a test
leaves codes out. Without the option nothing is done and nothing imported.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from torchcaliper.findings import Finding


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torchcaliper")
    group.addoption(
        "--caliper",
        nargs="?",
        const="error",
        choices=("error", "warning", "report"),
        help="watch every test with torchcaliper; fail on findings at or above this level (default: error)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "caliper_ignore(*codes): findings that torchcaliper is not to tell of this test")
    level = config.getoption("--caliper")
    if level is not None:
        config.pluginmanager.register(Watching(level, config.rootpath), "torchcaliper-watching")


class Watching:
    """Watches the call of every test."""

    def __init__(self, level: str, root: Any) -> None:
        self._level, self._root = level, str(root)
        self._found: list[tuple[str, list[Finding]]] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        if "torch" not in sys.modules:  # a test that has not imported torch so far trains nothing
            yield
            return
        from torchcaliper.run.attach import current
        from torchcaliper.run.watching import watch

        if current() is not None:
            yield
            return
        ignored = ",".join(code for mark in item.iter_markers("caliper_ignore") for code in mark.args)
        error = trace = None
        try:
            with watch(ignore=ignored or None) as run:
                outcome = yield
                if outcome.excinfo is not None:  # the watch has to see why the test failed
                    error, trace = outcome.excinfo[1], outcome.excinfo[2]
                    raise error
        except BaseException as raised:
            if raised is not error:
                raise
            error.__traceback__ = trace
        findings = run.findings
        if not findings:
            return
        self._found.append((item.nodeid, findings))
        bad = [f for f in findings if self._is_bad(f)]
        if bad:
            self._tell(item, outcome, bad)

    def _tell(self, item: pytest.Item, outcome: Any, bad: list[Finding]) -> None:
        from torchcaliper.report import console
        from torchcaliper.report.wording import number

        text = "\n".join(console.render_finding(f, self._root, 100, False) for f in bad)
        if outcome.excinfo is not None:
            item.add_report_section("call", "torchcaliper", text)
        else:
            words = f"torchcaliper: {number(len(bad), 'finding')}\n\n{text}"
            outcome.force_exception(pytest.fail.Exception(words, pytrace=False))

    def _is_bad(self, finding: Finding) -> bool:
        from torchcaliper.findings import Severity

        if self._level == "report":
            return False
        return finding.severity >= (Severity.ERROR if self._level == "error" else Severity.WARNING)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from torchcaliper.findings import Severity
        from torchcaliper.report.wording import said, shown_path

        told = [(name, [f for f in found if f.severity > Severity.ADVICE]) for name, found in self._found]
        told = [(name, found) for name, found in told if found]
        if not told:
            return
        terminalreporter.section("torchcaliper")
        for name, found in told:
            terminalreporter.line(name)
            for finding in found:
                at = finding.location
                place = f"{shown_path(at.path, self._root)}:{at.line}: " if at is not None else ""
                terminalreporter.line(f"  {place}{finding.severity} {finding.code} {said(finding.message)}")
