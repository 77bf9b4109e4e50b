"""Servers that the tests of this directory share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import start


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with start.mosquitto(tmp_path_factory.mktemp("mqtt") / "broker", "eng", "s3cret") as port:
        yield port


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[object]:
    from tests.servers.collecting import Collector

    one = Collector(tmp_path)
    yield one
    one.kill()
