"""A short run of the fuzzer of messages of RDF, and a check that it would notice."""

from __future__ import annotations

import pytest

from . import rdf_payloads


def test_two_thousand_messages() -> None:
    total = rdf_payloads.check_all(1, range(2000))
    assert not total.failures, total.failures[0]
    assert total.count == 2000
    assert min(total.outcomes[name] for name in ("read", "not RDF", "no time", "not UTF-8")) > 10


def test_other_errors_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: object, **more: object) -> None:
        raise RecursionError

    monkeypatch.setattr(rdf_payloads.RdfReader, "statements", broken)
    assert rdf_payloads.check(1, 0).failures


def test_changed_terms_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    read = next(number for number in range(1000) if rdf_payloads.check(1, number).outcomes["read"])
    monkeypatch.setattr(rdf_payloads, "read_quads", lambda text, format: iter(()))
    assert rdf_payloads.check(1, read).failures
