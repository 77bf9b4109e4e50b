"""Options of the whole test suite."""

from __future__ import annotations

import time
from hashlib import sha256

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="run the tests marked deep as well")
    parser.addoption("--kernel", action="store_true", help="run the tests that compile the machines in Java as well")
    parser.addoption("--spark", action="store_true", help="run the tests that need a JVM as well")
    parser.addoption("--servers", action="store_true", help="run the tests that start servers as well")
    parser.addoption("--soak", action="store_true", help="run the tests marked soak as well")
    parser.addoption(
        "--until",
        type=float,
        help="in an order that is fixed and mixes all files, start no test after this time, in seconds since 1970; "
        "the others are skipped and counted",
    )
    parser.addoption("--rewrite", action="store_true", help="write golden files anew instead of comparing with them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests with some marks are run on request; all of tests/spark and tests/servers is marked."""
    for item in items:
        for mark in ("spark", "servers"):
            if mark in item.path.relative_to(config.rootpath).parts[:-1]:
                item.add_marker(mark)
    left_out = {mark for mark in ("deep", "kernel", "spark", "servers", "soak") if not config.getoption(f"--{mark}")}
    away = {item for item in items if any(item.get_closest_marker(mark) for mark in left_out)}
    if away:
        config.hook.pytest_deselected(items=[item for item in items if item in away])
        items[:] = [item for item in items if item not in away]

    if config.getoption("--until"):
        # what is killed takes minutes, and may not be begun last
        items.sort(key=lambda item: (item.path.stem != "test_chaos", sha256(item.nodeid.encode()).digest()))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where there is no time left, a test is skipped."""
    until = item.config.getoption("--until")
    if until and time.time() > until:
        pytest.skip("no time left")


@pytest.fixture(scope="session")
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written anew."""
    return bool(request.config.getoption("--rewrite"))
