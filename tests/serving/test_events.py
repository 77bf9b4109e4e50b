"""Events: numbered, bounded, and a slow reader knows how many it missed."""

from __future__ import annotations

from transom.serving.events import Events


def test_a_reader_follows_by_number() -> None:
    events = Events()
    assert events.since(0) == (0, [])
    first, second = events.add("status", "a", status="running"), events.add("batch", "b", rows=1)
    assert (first.number, second.number, events.last) == (1, 2, 2)
    assert events.since(0) == (0, [first, second])
    assert events.since(1) == (0, [second])
    assert events.since(2) == (0, [])
    assert (first.query, first.fields["status"], "at" in first.fields) == ("a", "running", True)


def test_a_slow_reader_misses_some() -> None:
    events = Events(kept=3)
    for number in range(10):
        events.add("batch", "a", number=number)
    missed, kept = events.since(2)
    assert (missed, [event.number for event in kept]) == (5, [8, 9, 10])
    assert events.since(8)[0] == 0


def test_a_number_of_an_earlier_process_counts_as_the_beginning() -> None:
    events = Events()
    event = events.add("status", "a")
    assert events.since(77) == (0, [event])
