"""The types of expressions: constants, NULL, widening, times and instants (S36)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from transom.algebra.expressions.expression import Call, Case, Cast, Column, Constant, subexpressions
from transom.catalog.catalog import Catalog
from transom.errors import TypeProblem
from transom.model.types import Type

from .asking import EXTENTS, columns, item, literals, plan_of, predicate

NOON = datetime(2009, 3, 1, 12, tzinfo=UTC)
NOON_TICK = int(NOON.timestamp())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1", "integer"),
        ("-9223372036854775807", "integer"),
        ("1.0", "float"),
        ("'a'", "string"),
        ("TRUE", "boolean"),
        ("TIME '2009-03-01'", "time"),
        ("TIMESTAMP '2009-03-01'", "timestamp"),
        ("site + 1", "integer"),
        ("site + 1.0", "float"),
        ("site + price", "decimal"),
        ("price * 2", "decimal"),
        ("price * 0.5", "float"),
        ("site / 2", "float"),
        ("price / price", "float"),
        ("site % 2", "integer"),
        ("-price", "decimal"),
        ("+price", "decimal"),
        ("vehicle || 'x'", "string"),
        ("since + 60", "time"),
        ("60 + since", "time"),
        ("since - 60", "time"),
        ("since - since", "integer"),
        ("at - at", "float"),
        ("since - '2009-03-01'", "integer"),
        ("site = 1.5", "boolean"),
        ("vehicle LIKE 'x%'", "boolean"),
        ("site IS NULL", "boolean"),
        ("ABS(site)", "integer"),
        ("ABS(-1.5)", "float"),
        ("FLOOR(price)", "integer"),
        ("ROUND(site)", "float"),
        ("ROUND(price)", "decimal"),
        ("ROUND(price, 2)", "decimal"),
        ("ROUND(NULL)", "float"),
        ("MOD(site, 2)", "integer"),
        ("CEILING(1.5)", "integer"),
        ("COALESCE(site, 1.5)", "float"),
        ("COALESCE(NULL, vehicle)", "string"),
        ("GREATEST(site, price)", "decimal"),
        ("NULLIF(vehicle, 'x')", "string"),
        ("YEAR(at)", "integer"),
        ("HOUR(since)", "integer"),
        ("INSTANT(since)", "timestamp"),
        ("TICK(at)", "time"),
        ("CAST(site AS string)", "string"),
        ("CAST(NULL AS decimal)", "decimal"),
        ("CAST(since AS integer)", "integer"),
        ("CASE WHEN ok THEN 1 END", "integer"),
        ("CASE WHEN ok THEN 1 ELSE 2.5 END", "float"),
        ("CASE WHEN ok THEN NULL WHEN TRUE THEN price ELSE 1 END", "decimal"),
        ("CASE site WHEN 1 THEN 'a' ELSE NULL END", "string"),
        ("CASE WHEN ok THEN since ELSE 0 END", "time"),
    ],
)
def test_types(text: str, kind: str) -> None:
    assert columns(f"SELECT {text} AS it FROM traffic") == [f"it:{kind}"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("NULL = NULL", "boolean"),
        ("NULL AND ok", "boolean"),
        ("NOT NULL", "boolean"),
        ("NULL IS NULL", "boolean"),
        ("site = NULL", "boolean"),
        ("site IN (NULL, 1)", "boolean"),
        ("NULL BETWEEN 1 AND 2", "boolean"),
        ("NULL LIKE 'x'", "boolean"),
        ("NULL + 1", "integer"),
        ("NULL + 1.5", "float"),
        ("since - NULL", "time"),
        ("NULL || 'x'", "string"),
        ("-NULL", "integer"),
        ("COALESCE(NULL, NULL, 1.5)", "float"),
    ],
)
def test_null_takes_the_type_that_its_surroundings_give(text: str, kind: str) -> None:
    expression = item(text)
    assert str(expression.type) == kind
    assert all(part.type is not Type.NULL for part in subexpressions(expression))


@pytest.mark.parametrize("text", ["NULL", "CASE WHEN ok THEN NULL END", "+NULL"])
def test_a_column_of_nulls_needs_a_type(text: str) -> None:
    with pytest.raises(TypeProblem, match="NULL alone has no type"):
        plan_of(f"SELECT {text} AS it FROM traffic")


def test_where_null_is_a_condition() -> None:
    assert predicate("NULL") == Constant(None, Type.BOOLEAN)
    assert predicate("NOT NULL").type is Type.BOOLEAN


def test_constants_are_widened_where_they_stand() -> None:
    assert literals(item("level + 1", "road")) == [(1.0, "float")]
    assert literals(predicate("since > 60")) == [(60, "time")]
    assert literals(item("-1")) == [(-1, "integer")]
    assert literals(item("- -1.5")) == [(1.5, "float")]


def test_a_cast_of_null_is_a_constant() -> None:
    assert item("CAST(NULL AS decimal)") == Constant(None, Type.DECIMAL)


def test_columns_are_widened_by_a_cast() -> None:
    expression = item("site + level", "road")
    assert isinstance(expression, Call)
    left, right = expression.arguments
    assert isinstance(left, Cast)
    assert left.type is Type.FLOAT
    assert isinstance(right, Column)


def test_branches_of_case_are_widened() -> None:
    expression = item("CASE WHEN ok THEN 1 ELSE 2.5 END")
    assert isinstance(expression, Case)
    assert literals(expression) == [(1.0, "float"), (2.5, "float")]


class TestInstants:
    """A time is a tick, a timestamp an instant; both are written in ISO 8601 (S36)."""

    @pytest.mark.parametrize(
        "written",
        ["2009-03-01T12:00:00Z", "2009-03-01 12:00", "2009-03-01T13:00:00+01:00", "20090301T120000"],
    )
    def test_constants(self, written: str) -> None:
        """Without a zone an instant is UTC."""
        assert literals(item(f"TIME '{written}'")) == [(NOON_TICK, "time")]
        assert literals(item(f"TIMESTAMP '{written}'")) == [(NOON, "timestamp")]

    @pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
    def test_strings_beside_times(self, operator: str) -> None:
        assert literals(predicate(f"since {operator} '2009-03-01T12:00Z'")) == [(NOON_TICK, "time")]
        assert literals(predicate(f"'2009-03-01T12:00Z' {operator} at")) == [(NOON, "timestamp")]

    def test_strings_in_lists_and_ranges(self) -> None:
        assert literals(predicate("since IN ('2009-03-01T12:00Z', 5)")) == [(NOON_TICK, "time"), (5, "time")]
        between = literals(predicate("at BETWEEN '2009-03-01T12:00Z' AND '2009-03-01T12:00Z'"))
        assert between == [(NOON, "timestamp")] * 2
        case = item("CASE since WHEN '2009-03-01T12:00Z' THEN 1 END")
        assert (NOON_TICK, "time") in literals(case)

    def test_other_strings_stay_strings(self) -> None:
        assert literals(predicate("vehicle = '2009-03-01T12:00Z'")) == [("2009-03-01T12:00Z", "string")]
        with pytest.raises(TypeProblem, match=r"\|\| does not take a time and a string"):
            predicate("since || '2009-03-01' = ''")

    def test_epoch_and_length_of_a_tick(self) -> None:
        """A constant lies in the tick that has begun; before the epoch ticks are negative."""
        catalog = Catalog.from_dict({"tick": "1 min", "epoch": "2009-03-01T11:00:00Z", "extents": EXTENTS})
        assert literals(predicate("since > '2009-03-01T12:00:59Z'", catalog)) == [(60, "time")]
        assert literals(predicate("since > TIME '2009-03-01T10:59:30Z'", catalog)) == [(-1, "time")]

    def test_times_and_timestamps_do_not_mix(self) -> None:
        with pytest.raises(TypeProblem, match="cannot be compared with a timestamp"):
            predicate("since < at")
        assert predicate("INSTANT(since) < at").type is Type.BOOLEAN
        assert predicate("since < TICK(at)").type is Type.BOOLEAN

    @pytest.mark.parametrize(
        "written", ["yesterday", "", "12:00", "2009-02-30", "0001-01-01T00:00+23:59", "9999-12-31T23:59:59-23:59"]
    )
    def test_what_is_no_instant(self, written: str) -> None:
        for text in (f"since > '{written}'", f"at = TIMESTAMP '{written}'", f"since = TIME '{written}'"):
            with pytest.raises(TypeProblem, match="is not an ISO 8601 instant"):
                predicate(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("site = 'a'", "an integer cannot be compared with a string"),
        ("ok = 1", "a boolean cannot be compared with an integer"),
        ("site IN (1, 'a')", "an integer cannot be compared with a string"),
        ("site BETWEEN 1 AND ok", "an integer cannot be compared with a boolean"),
        ("since = 1.5", "a time cannot be compared with a float"),
        ("site LIKE 'a'", "LIKE does not take an integer and a string"),
        ("site AND ok", "AND needs a condition, not an integer"),
        ("ok OR vehicle", "OR needs a condition, not a string"),
        ("NOT site", "NOT needs a condition, not an integer"),
        ("site", "WHERE needs a condition, not an integer"),
        ("CASE WHEN site THEN ok END", "WHEN needs a condition, not an integer"),
        ("vehicle + 1 > 0", "+ does not take a string and an integer"),
        ("ok + ok > 0", "+ does not take two booleans"),
        ("since + since > 0", "+ does not take two times"),
        ("since * 2 > 0", "* does not take a time and an integer"),
        ("-since > 0", "- does not take a time"),
        ("-TIME '2009-03-01' < 0", "- does not take a time"),
        ("+vehicle = ''", "+ does not take a string"),
        ("price % 2 = 0", "% does not take a decimal and an integer"),
        (
            "CASE WHEN ok THEN 1 ELSE 'a' END = 1",
            "the branches of CASE have different types: an integer and a string",
        ),
        ("CASE site WHEN 'a' THEN ok END", "an integer cannot be compared with a string"),
        ("SQRT(vehicle) > 0", "SQRT does not take a string"),
        ("SQRT() > 0", "SQRT takes 1 argument, not 0"),
        ("SUBSTRING(vehicle) = ''", "SUBSTRING takes 2 or 3 arguments, not 1"),
        ("TICK(at, 5, at) = 0", "TICK takes 1 argument, not 3"),
        ("INSTANT(at) = at", "INSTANT does not take a timestamp"),
        ("YEAR(site) = 1", "YEAR does not take an integer"),
        ("CAST(1.5 AS string) = ''", "a float cannot be cast to a string"),
        ("CAST(at AS integer) = 1", "a timestamp cannot be cast to an integer"),
        ("DATE '2009-03-01' = at", "there are no DATE constants"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(TypeProblem) as caught:
        predicate(text)
    assert caught.value.message == words
    assert caught.value.hint
