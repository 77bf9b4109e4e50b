"""Sources of ours that support AvailableNow are registered once for each session."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from transom.spark.input.available_now import register
from transom.spark.input.clock import ClockSource


class Session:
    """Takes sources as a session of Spark does, slowly."""

    def __init__(self) -> None:
        self.taken: list[type] = []
        self.conf = SimpleNamespace(set=lambda name, value: None)
        self.dataSource = SimpleNamespace(register=self.register)

    def register(self, source: type) -> None:
        known = list(self.taken)
        sleep(0.02)
        self.taken = [*known, source]


def test_threads_register_a_source_once_for_each_session() -> None:
    sessions: list[Any] = [Session(), Session()]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: register(sessions[n % 2], ClockSource), range(16)))
    assert [session.taken for session in sessions] == [[ClockSource], [ClockSource]]
