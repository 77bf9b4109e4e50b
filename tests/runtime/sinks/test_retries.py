"""A delivery that a server does not take is repeated, and each repetition is counted for its run."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from transom.errors import Unavailable
from transom.runtime.running import BatchGate
from transom.runtime.sinks import retries
from transom.runtime.sinks.retries import retries_counted, with_retries


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(retries, "time", SimpleNamespace(sleep=slept.append))
    return slept


def failing(times: int) -> Any:
    """An action that fails so many times, and then succeeds."""
    left = [times]

    def act() -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise OSError("refused")

    return act


def test_repetitions_are_counted(pauses: list[float]) -> None:
    counted: list[int] = []
    with retries_counted(lambda: counted.append(1)):
        with_retries("the server", failing(3))
    assert (len(counted), pauses) == (3, [0.5, 1.0, 2.0])
    with_retries("the server", failing(2))
    assert len(counted) == 3, "outside of the context"


def test_the_last_attempt_is_an_error(pauses: list[float]) -> None:
    counted: list[int] = []
    with pytest.raises(Unavailable, match="the server does not take"), retries_counted(lambda: counted.append(1)):
        with_retries("the server", failing(99), attempts=4)
    assert (len(counted), len(pauses)) == (3, 3)


def test_a_run_counts_only_its_own(pauses: list[float]) -> None:
    """Two runs deliver at the same time, each in a thread of its own."""
    checkpoint: Any = SimpleNamespace(verify_epoch=lambda: None, record_digests=lambda: None)
    accounts: Any = SimpleNamespace(count_computed=lambda batch: None)
    gates = [BatchGate(checkpoint, accounts) for _ in range(2)]
    both = threading.Barrier(2)

    def deliver(times: int) -> Any:
        def to_server(frame: Any, batch: int) -> None:
            both.wait(10)
            with_retries("the server", failing(times))
            both.wait(10)

        return to_server

    frame: Any = None
    threads = [threading.Thread(target=gate.wrap(deliver(n + 1)), args=(frame, 0)) for n, gate in enumerate(gates)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [gate.retries for gate in gates] == [1, 2]
