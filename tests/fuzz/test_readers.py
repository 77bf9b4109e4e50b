"""A short run of all readers by turns, and checks that it would notice and goes on where it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from . import messages, readers


def test_two_thousand_messages() -> None:
    total = messages.check_all(1, range(2000))
    assert not total.failures, total.failures[0]
    assert total.count == 2000
    assert min(total.outcomes[name] for name in ("read", "not JSON", "not SenML", "not CSV", "wrong type")) > 10


def test_other_errors_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: object) -> None:
        raise OverflowError

    monkeypatch.setattr(messages.MessageReader, "rows", broken)
    assert messages.check(1, 0).failures


def test_a_slow_message_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "SLOWEST", 0.0)
    assert messages.check(1, 0).failures


def test_a_run_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, int, int]] = []

    def counted(name: str) -> object:
        def check(seed: int, numbers: range) -> messages.Tally:
            asked.append((name, numbers.start, numbers.stop))
            return messages.check_all(seed, range(numbers.stop - numbers.start))

        return check

    monkeypatch.setattr(readers, "CHUNK", 20)
    monkeypatch.setattr(readers, "READERS", {name: counted(name) for name in ("one", "two")})
    for count in (20, 40):
        options = ["--count", str(count), "--processes", "1", "--state", str(tmp_path / "state.json")]
        monkeypatch.setattr(sys, "argv", ["readers", *options])
        assert readers.main() == 0
    assert asked == [("one", 0, 20), ("two", 0, 20), ("one", 20, 40), ("two", 20, 40)]
    assert "two: 40 inputs" in capsys.readouterr().out
