"""Pauses between restarts: exponential, bounded, and reset by a success."""

from __future__ import annotations

from transom.serving.back_off import BackOff


def test_pauses_double_up_to_the_longest() -> None:
    pauses = BackOff(1.0, 10.0)
    assert [pauses.pause() for _ in range(6)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert pauses.failures == 6
    pauses.reset()
    assert (pauses.failures, pauses.pause()) == (0, 1.0)


def test_no_number_of_failures_is_too_large() -> None:
    pauses = BackOff(5.0, 3.0)
    assert {pauses.pause() for _ in range(2000)} == {3.0}
