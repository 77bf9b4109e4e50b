"""Types and the values that carry them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.errors import PlanError, Span, TransomError, Unsupported, underline
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar, Rate, read_duration
from transom.model.types import DECLARABLE, Type, coerce_value, common_type, is_value_of, parse_value


@given(st.sampled_from(list(Type)), st.sampled_from(list(Type)))
def test_common_type_does_not_depend_on_the_order(left: Type, right: Type) -> None:
    assert common_type(left, right) is common_type(right, left)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (Type.INTEGER, Type.FLOAT, Type.FLOAT),
        (Type.INTEGER, Type.DECIMAL, Type.DECIMAL),
        (Type.DECIMAL, Type.FLOAT, Type.FLOAT),
        (Type.NULL, Type.STRING, Type.STRING),
        (Type.TIME, Type.INTEGER, Type.TIME),
        (Type.STRING, Type.INTEGER, None),
        (Type.BOOLEAN, Type.INTEGER, None),
        (Type.TIME, Type.FLOAT, None),
    ],
)
def test_common_type(left: Type, right: Type, both: Type | None) -> None:
    assert common_type(left, right) is both


@pytest.mark.parametrize(
    ("value", "kind", "right"),
    [
        (1, Type.INTEGER, True),
        (True, Type.INTEGER, False),
        (2**63, Type.INTEGER, False),
        (-(2**63), Type.INTEGER, True),
        (1.5, Type.FLOAT, True),
        (float("inf"), Type.FLOAT, False),
        (1, Type.FLOAT, False),
        ("a", Type.STRING, True),
        (1, Type.BOOLEAN, False),
        (Decimal("NaN"), Type.DECIMAL, False),
        (datetime(2009, 1, 1), Type.TIMESTAMP, False),
        (datetime(2009, 1, 1, tzinfo=UTC), Type.TIMESTAMP, True),
        (5, Type.TIME, True),
        (1, Type.NULL, False),
    ],
)
def test_fits(value: object, kind: Type, right: bool) -> None:
    assert is_value_of(value, kind) is right  # type: ignore[arg-type]
    assert all(is_value_of(None, each) for each in Type)


@pytest.mark.parametrize(
    ("value", "kind", "tidied"),
    [
        (3, Type.FLOAT, 3.0),
        (Decimal("0.5"), Type.FLOAT, 0.5),
        (3, Type.DECIMAL, Decimal(3)),
        (0.1, Type.DECIMAL, Decimal("0.1")),
        (3.0, Type.INTEGER, 3),
        (float("nan"), Type.FLOAT, None),
        (Decimal("NaN"), Type.DECIMAL, None),
        (Decimal("1.50"), Type.DECIMAL, Decimal("1.5")),
        (Decimal("0.00"), Type.DECIMAL, Decimal(0)),
        (None, Type.STRING, None),
        (datetime(2009, 1, 1), Type.TIMESTAMP, datetime(2009, 1, 1, tzinfo=UTC)),
        (
            datetime(2009, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
            Type.TIMESTAMP,
            datetime(2009, 1, 1, tzinfo=UTC),
        ),
    ],
)
def test_tidy(value: object, kind: Type, tidied: object) -> None:
    assert coerce_value(value, kind) == tidied


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3.5, Type.INTEGER),
        ("3", Type.INTEGER),
        (True, Type.FLOAT),
        (float("inf"), Type.FLOAT),
        ([], Type.STRING),
        (10**400, Type.FLOAT),
        (Decimal("1e99"), Type.DECIMAL),
        (Decimal("1" * 39), Type.DECIMAL),
    ],
)
def test_tidy_refuses(value: object, kind: Type) -> None:
    with pytest.raises(ValueError, match="is not of type"):
        coerce_value(value, kind)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (" 7 ", Type.INTEGER, 7),
        ("7", Type.TIME, 7),
        ("0.5", Type.FLOAT, 0.5),
        ("0.10", Type.DECIMAL, Decimal("0.1")),
        ("NaN", Type.FLOAT, None),
        (" nan", Type.DECIMAL, None),
        ("nan", Type.STRING, "nan"),
        ("TRUE", Type.BOOLEAN, True),
        (" a ", Type.STRING, " a "),
        ("2009-01-01T00:00:00Z", Type.TIMESTAMP, datetime(2009, 1, 1, tzinfo=UTC)),
    ],
)
def test_read_text(text: str, kind: Type, value: object) -> None:
    assert parse_value(text, kind) == value


@pytest.mark.parametrize("kind", [t for t in (*DECLARABLE, Type.NULL) if t is not Type.STRING])
def test_read_text_refuses(kind: Type) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - every type has its own words
        parse_value("so so", kind)


def test_durations() -> None:
    assert read_duration("5 min") == 300_000_000
    assert read_duration("h") == 3_600_000_000
    assert read_duration("250ms") == 250_000
    for words in ("", "5", "5 moons", "-5 min", "1.5 s", "5" + " " * 50_000 + "min"):
        with pytest.raises(ValueError, match="length of time"):
            read_duration(words)


def test_calendar() -> None:
    calendar = Calendar(60_000_000, datetime(2009, 1, 1, tzinfo=UTC))
    assert calendar.ticks(3_600_000_000) == 60
    assert calendar.ticks(1_000_000) is None
    assert calendar.tick_of(datetime(2009, 1, 1, 0, 1, 59, tzinfo=UTC)) == 1
    assert calendar.tick_of(datetime(2008, 12, 31, 23, 59, 59)) == -1
    assert calendar.instant_of(2) == datetime(2009, 1, 1, 0, 2, tzinfo=UTC)
    assert calendar.describe(10) == "600 s"
    assert Calendar(1000).describe(1500) == "1500 ms"


@given(st.integers(-(10**6), 10**6))
def test_a_tick_begins_at_its_instant(tick: int) -> None:
    calendar = Calendar(250_000, datetime(2009, 1, 1, tzinfo=UTC))
    assert calendar.tick_of(calendar.instant_of(tick)) == tick


def test_rate() -> None:
    assert [Rate(4, 60).within(n) for n in (0, 1, 60, 61, 601)] == [0, 4, 4, 8, 44]
    assert (str(Rate(2, 1)), str(Rate(4, 60))) == ("2 per tick", "4 per 60 ticks")


def test_schema() -> None:
    schema = Schema((Attribute("x", Type.INTEGER, "a"), Attribute("x", Type.INTEGER, "b")))
    assert str(schema) == "(a.x:integer, b.x:integer)"
    assert len(schema.find(None, "x")) == 2
    assert schema.find("a", "x") == [schema.attributes[0]]
    with pytest.raises(PlanError, match="two columns"):
        schema.qualified("c")
    with pytest.raises(PlanError, match="no column"):
        schema.position(Attribute("y", Type.INTEGER))


def test_errors_show_the_place() -> None:
    error = TransomError("what is this", span=Span(7, 10), hint="say it", detail="more").within("SELECT\tfoo", "q")
    assert str(error).splitlines() == [
        "q:1:8: what is this",
        "     1 | SELECT foo",
        "       |        ^^^",
        "  detail: more",
        "  hint: say it",
    ]
    assert str(TransomError("alone")) == "alone"
    assert str(TransomError("in a file", source="f")) == "f: in a file"
    long = "x" * 300
    assert len(underline(long, Span(250, 260))[0]) < 140
    gap = Unsupported("Window", "no places", "not yet")
    assert (gap.operator, gap.kind, str(gap).splitlines()[1]) == ("Window", "not yet", "  detail: no places")
