"""A short run of the fuzzer of SPARQL, and a check that it would notice."""

from __future__ import annotations

import pytest

from . import sparql


def test_two_hundred_inputs() -> None:
    total = sparql.check_all(1, range(200))
    assert not total.failures
    assert total.count == 200
    assert min(total.outcomes[name] for name in ("taken", "against a rule", "not parsed")) > 5


def test_a_lossy_unparse_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = next(number for number in range(1000) if sparql.check(1, number).outcomes["taken"])
    monkeypatch.setattr(sparql, "unparse", lambda query: "ASK {}")
    assert sparql.check(1, taken).failures


def test_other_errors_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise RecursionError

    monkeypatch.setattr(sparql, "parse", broken)
    assert sparql.check(1, 0).failures
