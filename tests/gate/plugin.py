"""The pytest side of the gate: which tests a run selects, and a run that fails if one of them is skipped or never runs.

--nightly           only the tests that CI leaves to the nightly run: those marked nightly, deep or soak
--tests-from FILE   only the tests whose ids a file lists, one per line
--ledger FILE       append one JSON line per test, and fail if a test is skipped or never runs
--step NAME         the name of the run in the ledger
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.gate import ledger

KINDS = ("kernel", "spark", "servers", "browser")
"""Marks of what a test needs: each is run on request, and all of them with --nightly."""

NIGHTLY = ("nightly", "deep", "soak")
"""Marks of tests that are not part of the chosen set."""

FOLDERS = ("spark", "servers")
"""All tests in a folder of this name carry the mark of the same name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    for mark, words in (
        ("deep", "run the tests marked deep as well"),
        ("kernel", "run the tests that compile the machines in Java as well"),
        ("spark", "run the tests that need a JVM as well"),
        ("servers", "run the tests that start servers as well"),
        ("browser", "run the tests that look at the site in Chromium as well"),
        ("soak", "run the tests marked soak as well"),
    ):
        parser.addoption(f"--{mark}", action="store_true", help=words)
    parser.addoption("--nightly", action="store_true", help="run only the tests marked nightly, deep or soak")
    parser.addoption("--whole", action="store_true", help="run the tests marked nightly as well")
    parser.addoption("--tests-from", metavar="FILE", help="run only the tests whose ids a file lists, one per line")
    parser.addoption("--ledger", metavar="FILE", help="record every test; a skipped test fails the run")
    parser.addoption("--step", default="tests", help="the name of this run in the ledger")
    parser.addoption("--rewrite", action="store_true", help="write golden files anew instead of comparing with them")


def pytest_configure(config: pytest.Config) -> None:
    """Record a gated run, where the tests are reported: in the controller of pytest-xdist, not in its workers."""
    path = config.getoption("--ledger")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(path), config.getoption("--step")), "transom-gate")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select tests by their marks, then by their ids."""
    for item in items:
        for mark in FOLDERS:
            if mark in item.path.relative_to(config.rootpath).parts[:-1]:
                item.add_marker(mark)
    kept = [item for item in items if _is_selected(config, {mark.name for mark in item.iter_markers()})]
    if listed := config.getoption("--tests-from"):
        wanted = set(Path(listed).read_text("utf-8").splitlines())
        if lost := wanted - {item.nodeid for item in kept}:
            raise pytest.UsageError(f"{listed} lists tests that are not there: {sorted(lost)[:5]}")
        kept = [item for item in kept if item.nodeid in wanted]
    if len(kept) < len(items):
        stays = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in stays])
        items[:] = kept


def _is_selected(config: pytest.Config, marks: set[str]) -> bool:
    if config.getoption("--nightly"):
        return bool(marks & set(NIGHTLY))
    asked = {mark for mark in (*KINDS, "deep", "soak") if config.getoption(f"--{mark}")}
    asked |= {"nightly"} if config.getoption("--whole") else set()
    return marks & {*KINDS, *NIGHTLY} <= asked


class Recorder:
    """Collects the reports of a run, writes them into the ledger and fails the run on what was skipped or lost."""

    def __init__(self, path: Path, step: str) -> None:
        self._path, self._step = path, step
        self._seconds: dict[str, float] = defaultdict(float)
        self._outcomes: dict[str, str] = {}
        self._entries: list[ledger.Entry] = []
        self._modules: list[str] = []
        self._violations: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test; the worst outcome of its phases counts."""
        self._seconds[report.nodeid] += report.duration
        expected = hasattr(report, "wasxfail")  # an expected failure has a reason in the code and is not a skip
        outcome = "xfailed" if expected and report.skipped else report.outcome
        before = self._outcomes.get(report.nodeid, "passed")
        self._outcomes[report.nodeid] = before if outcome == "passed" else outcome
        if report.when == "teardown":  # a test that was cut short has none, and did not run
            seconds = round(self._seconds[report.nodeid], 3)
            self._entries.append(ledger.Entry(self._step, report.nodeid, self._outcomes[report.nodeid], seconds))
            ledger.write(self._path, self._entries[-1:])  # at once: what an interrupted run has done is not lost

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that was skipped as a whole, for want of a library, is as bad as a skipped test."""
        if report.skipped:
            self._modules.append(f"skipped: {report.nodeid}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Set the exit status to failure if the run is not whole."""
        self._violations = [*self._modules, *ledger.violations(session.testscollected, self._entries)]
        if self._violations and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what made the run fail."""
        for line in self._violations:
            terminalreporter.write_line(f"the gate fails this run: {line}", red=True)


@pytest.fixture(scope="session")
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written anew."""
    return bool(request.config.getoption("--rewrite"))
