"""A short run of the fuzzer, and a check that it would notice."""

from __future__ import annotations

import pytest

from transom.errors import ParseError, PlanError

from . import fuzz
from .fuzz import check, check_all, input_of


def test_six_hundred_inputs() -> None:
    total = check_all(1, range(600))
    assert not total.failures
    assert total.count == 600
    assert min(total.outcomes[name] for name in ("translated", "not translated", "not parsed", "read", "not read")) > 10


def test_inputs_follow_from_the_seed() -> None:
    assert [input_of(7, number) for number in range(50)] == [input_of(7, number) for number in range(50)]
    assert input_of(7, 2) != input_of(8, 2)


@pytest.mark.parametrize("error", [ValueError("x"), RecursionError(), PlanError("transom is at fault")])
def test_other_errors_are_failures(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise error

    monkeypatch.setattr(fuzz, "parse", broken)
    assert check(1, 0).failures


def test_a_lossy_unparse_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = next(number for number in range(0, 1000, 4) if check(1, number).outcomes["translated"])
    monkeypatch.setattr(fuzz, "unparse", lambda query: "SELECT nothing FROM nowhere")
    assert check(1, parsed).failures


def test_a_slow_input_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "SLOWEST", 0.0)
    assert check(1, 0).failures


def test_an_error_without_words_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(text: str) -> None:
        raise ParseError("", source=" ")

    monkeypatch.setattr(fuzz, "parse", silent)
    monkeypatch.setattr(ParseError, "render", lambda error: " ")
    assert check(1, 0).failures
