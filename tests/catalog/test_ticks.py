"""Lengths of time, rates, instants and values."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from transom.catalog.reading.ticks import read_instant, read_interval, read_length, read_rate, read_tick, read_value
from transom.model.time import Calendar, Rate
from transom.model.types import Type

SECONDS = Calendar()
MINUTES = Calendar(60_000_000, datetime(2009, 1, 1, tzinfo=UTC))


def test_lengths():
    assert read_length("5 min", SECONDS) == 300
    assert read_length("5 min", MINUTES) == 5
    assert read_length("0 s", SECONDS) == 0
    assert read_interval("h", SECONDS) == 3600


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("five", "'five' is not a length of time"),
        ("90 s", "'90 s' is not a whole number of ticks of 60 s"),
        ("999999999999999 d", "is longer than"),
    ],
)
def test_lengths_that_are_none(words, message):
    calendar = MINUTES if words == "90 s" else Calendar(1)
    with pytest.raises(ValueError, match=message):
        read_length(words, calendar)


def test_an_interval_is_a_tick_or_more():
    with pytest.raises(ValueError, match="shorter than one tick"):
        read_interval("0 s", SECONDS)


@pytest.mark.parametrize("words", ["20 per min", "20/min", "20 PER 60 s", " 20 / 1 minute "])
def test_rates(words):
    assert read_rate(words, SECONDS) == Rate(20, 60)


@pytest.mark.parametrize(
    ("words", "message"),
    [("20 min", "is not a rate"), ("0 per min", "one row or more"), ("1 perm", "is not a rate"), ("1 per x", "length")],
)
def test_rates_that_are_none(words, message):
    with pytest.raises(ValueError, match=message):
        read_rate(words, SECONDS)


@pytest.mark.parametrize(
    "value",
    [
        "2009-01-01",
        "2009-01-01T00:00:00Z",
        " 2009-01-01 02:00+02:00",
        date(2009, 1, 1),
        datetime(2009, 1, 1),
        datetime(2009, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_instants(value):
    assert read_instant(value) == datetime(2009, 1, 1, tzinfo=UTC)
    assert read_instant(value).tzinfo is UTC


@pytest.mark.parametrize("value", ["soon", 5, None, "0001-01-01T00:00:00+10:00"])
def test_instants_that_are_none(value):
    with pytest.raises(ValueError, match=r"is not an instant|outside the calendar"):
        read_instant(value)


@pytest.mark.parametrize(
    ("value", "tick"),
    [
        (60, 60),
        ("60", 60),
        (60.0, 60),
        ("2009-01-01T00:01:30Z", 1),
        (datetime(2009, 1, 1, 1), 60),
        (date(2009, 1, 2), 1440),
    ],
)
def test_ticks(value, tick):
    assert read_tick(value, MINUTES) == tick


@pytest.mark.parametrize("value", ["\x1e5", -1, "-1", "2008-12-31", True, None, 1.5, "x", 2**63, float("nan")])
def test_ticks_that_are_none(value):
    with pytest.raises(ValueError, match=r"tick|instant"):
        read_tick(value, MINUTES)


@pytest.mark.parametrize(
    ("value", "kind", "read"),
    [
        (3, Type.FLOAT, 3.0),
        ("2.50", Type.DECIMAL, Decimal("2.50")),
        (Decimal("4.0"), Type.INTEGER, 4),
        ("2009-01-01", Type.TIMESTAMP, datetime(2009, 1, 1, tzinfo=UTC)),
        (date(2009, 1, 1), Type.TIMESTAMP, datetime(2009, 1, 1, tzinfo=UTC)),
        (None, Type.STRING, None),
    ],
)
def test_values(value, kind, read):
    assert read_value(value, kind) == read


def test_there_is_one_zero() -> None:
    assert str(read_value(-0.0, Type.FLOAT)) == "0.0"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("3", Type.INTEGER),
        (10**400, Type.FLOAT),
        pytest.param(10**5000, Type.INTEGER, id="long"),
        ("x", Type.DECIMAL),
        (Decimal("0.5"), Type.INTEGER),
        ("0001-01-01T00:00:00+10:00", Type.TIMESTAMP),
        ([], Type.STRING),
    ],
)
def test_values_that_are_none(value, kind):
    with pytest.raises(ValueError, match=f"is not of type {kind}"):
        read_value(value, kind)
