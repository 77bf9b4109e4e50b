"""What calendar windows refuse: each error names the reason, says what to write instead, and points into the text."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from transom.errors import QueryError

WHEN = {"tick": "1 h", "epoch": "2026-01-01T00:00:00Z"}
STREAM = {"extents": {"s": "pushed (v:integer)", "t": "stored (v:integer)"}}

REFUSED: list[tuple[str, str, dict[str, Any], str, str, str]] = [
    (
        "sneeql",
        "SELECT v FROM s [FROM NOW-1 TO NOW SLIDE 1 DAY AT 'Europe/Berlin']",
        {"tick": "1 h"},
        "'Europe/Berlin'",
        "does not declare when tick 0 begins",
        "epoch: 1970-01-01",
    ),
    (
        "sneeql",
        "SELECT v FROM s [FROM NOW-1 TO NOW SLIDE 1 DAY AT 'Europe/Berlni']",
        WHEN,
        "'Europe/Berlni'",
        "no time zone is called",
        "Europe/Berlin",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 day', SLIDE '1 day' AT '../../etc/passwd']",
        WHEN,
        "'../../etc/passwd'",
        "no time zone is called",
        "'Europe/Berlin'",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 day', SLIDE '1 day' AT 'Asia/Kathmandu']",
        WHEN,
        "'Asia/Kathmandu'",
        "a day of Asia/Kathmandu begins within a tick, at 2025-12-29T18:15:00Z",
        "a tick of this catalog lasts 3600 s",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 day', SLIDE '1 day' AT 'UTC']",
        WHEN | {"epoch": "0001-01-01T00:00:00Z"},
        "'UTC'",
        "need an epoch from 1970",
        "declare",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '36 hours', SLIDE '1 day' AT 'Europe/Berlin']",
        WHEN,
        "'36 hours'",
        "36 hours is not a number of calendar periods",
        "write days, weeks, months or years",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 day', SLIDE '12 hours' AT 'Europe/Berlin']",
        WHEN,
        "'12 hours'",
        "12 hours is not a number of calendar periods",
        "without AT",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1.5 days', SLIDE '1 day' AT 'Europe/Berlin']",
        WHEN,
        "'1.5 days'",
        "not a whole number",
        "whole number",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 month', SLIDE '1 day' AT 'Europe/Berlin']",
        WHEN,
        "'1 month'",
        "a slide in days cannot have a range in months",
        "write the range in days",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 week', SLIDE '1 month' AT 'Europe/Berlin']",
        WHEN,
        "'1 week'",
        "cannot have a range in weeks",
        "days or months or years",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '0 days', SLIDE '1 day' AT 'Europe/Berlin']",
        WHEN,
        "'0 days'",
        "a range cannot be 0",
        "at least 1",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 day', SLIDE '0 days' AT 'Europe/Berlin']",
        WHEN,
        "'0 days'",
        "a slide cannot be 0",
        "at least 1",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 day' AT 'Europe/Berlin']",
        WHEN,
        "RANGE '1 day'",
        "needs a slide",
        "SLIDE '1 day' AT 'Europe/Berlin'",
    ),
    (
        "cql",
        "SELECT v FROM s [ROWS 5, SLIDE '1 day' AT 'Europe/Berlin']",
        WHEN,
        "ROWS 5",
        "has a range of time",
        "days, weeks",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '101 years', SLIDE '1 year' AT 'Europe/Berlin']",
        WHEN,
        "'101 years'",
        "at most 100 years",
        "shorter",
    ),
    (
        "cql",
        "SELECT v FROM s [RANGE '1 month', SLIDE '1 month']",
        WHEN,
        "month",
        "no unit is called month",
        "AT 'Europe/Berlin'",
    ),
    (
        "sneeql",
        "SELECT v FROM s [FROM NOW-1 TO NOW SLIDE 1 DAY]",
        WHEN,
        "]",
        "not expected",
        "AT 'Europe/Berlin'; for fixed lengths, write the whole window in HOUR",
    ),
    (
        "sneeql",
        "SELECT v FROM s [FROM NOW-1 TO NOW SLIDE 1 HOUR AT 'Europe/Berlin']",
        WHEN,
        "AT",
        "not expected",
        "AT is for slides by DAY, WEEK, MONTH or YEAR",
    ),
    (
        "sneeql",
        "SELECT v FROM s [FROM NOW-1 TO NOW SLIDE 0 DAY AT 'Europe/Berlin']",
        WHEN,
        "0",
        "a slide cannot be 0",
        "at least 1",
    ),
    (
        "sneeql",
        "SELECT v FROM t [FROM NOW-1 TO NOW SLIDE 1 DAY AT 'Europe/Berlin']",
        WHEN,
        "[FROM NOW-1 TO NOW SLIDE 1 DAY AT 'Europe/Berlin']",
        "t is a table",
        "SCAN",
    ),
    (
        "sneeql",
        "SELECT v FROM t [SCAN 1 DAY AT 'Europe/Berlin']",
        WHEN,
        "DAY",
        "not expected",
        "24 HOUR",
    ),
]


@pytest.mark.parametrize(("language", "text", "time", "words", "message", "hint"), REFUSED)
def test_refused(language: str, text: str, time: dict[str, Any], words: str, message: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        transom.compile(text, time | STREAM, language=language)
    span = caught.value.span
    assert span is not None
    assert text[span.start : span.end] == words
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "window",
    [
        "WINDOW RANGE 1 DAY SLIDE 1 DAY AT 'Europe/Berlin'",
        "WINDOW RANGE 1 MONTH SLIDE 1 MONTH",
        "WINDOW RANGE 1 DAY FIXED AT 'Europe/Berlin'",
        "WINDOW RANGE 1 YEAR FIXED",
    ],
)
def test_sparql_refuses_calendar_windows(window: str) -> None:
    catalog = WHEN | {"rdf": {"s": {"stream": "http://e/s"}}}
    with pytest.raises(QueryError) as caught:
        transom.compile(f"SELECT ?x FROM STREAM <http://e/s> {window} WHERE {{ ?x ?p ?o }}", catalog, language="sparql")
    assert "SNEEql and CQL have calendar windows" in (caught.value.hint or "")


def test_a_window_that_leaves_gaps_or_is_empty_warns() -> None:
    catalog = WHEN | STREAM
    sneeql = [("NOW-1 TO NOW SLIDE 2", "in none of them"), ("NOW TO NOW SLIDE 1", "every window is empty")]
    for window, words in [*sneeql, ("NOW TO NOW-1 SLIDE 1", "FROM is later than TO")]:
        query = transom.compile(f"SELECT v FROM s [FROM {window} DAY AT 'UTC']", catalog, language="sneeql")
        assert words in str(query.warnings[0])
    cql = transom.compile("SELECT v FROM s [RANGE '7 days', SLIDE '1 month' AT 'UTC']", catalog, language="cql")
    assert "in none of them" in str(cql.warnings[0])
    quiet = transom.compile("SELECT v FROM s [RANGE '1 day', SLIDE '1 day' AT 'UTC']", catalog, language="cql")
    assert list(quiet.warnings) == []


def test_rows_after_the_last_known_day_are_an_error() -> None:
    query = transom.compile("SELECT v FROM s [RANGE '1 day', SLIDE '1 day' AT 'UTC']", WHEN | STREAM, language="cql")
    with pytest.raises(transom.TransomError, match="end with the year 2099"):
        query.simulate({"s": [("2100-01-01T00:00:00Z", 1)]})


def test_the_state_bound_is_that_of_the_longest_period() -> None:
    """A month of 31 days and an hour, and as long until the next window."""
    catalog = WHEN | {"extents": {"s": {"kind": "pushed", "attributes": ["v:integer"], "rate": "1 per 1 h"}}}
    query = transom.compile(
        "SELECT v FROM s [RANGE '1 month', SLIDE '1 month' AT 'Europe/Berlin']", catalog, language="cql"
    )
    assert "at most 745 ticks" in query.explain("algebra")
    assert "1490" in query.explain("algebra")
