"""State bounds as formulas: how they are built, valued, written, and what is missing from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import transom
from transom.algebra.sources import StreamReceive
from transom.algebra.state.bounds import (
    arrivals,
    at_most_one_window_per_tick,
    operator_state,
    window_size,
    window_ticks,
    windows_within,
)
from transom.algebra.state.formula import (
    ONE,
    ZERO,
    Arrivals,
    CeilDivision,
    DeclaredStatistics,
    Hint,
    Minimum,
    RowCount,
    Sum,
    TableRows,
    Unbounded,
    ceil_divide,
    evaluate_rows,
    formula_text,
    is_bounded,
    minimum,
    missing_declarations,
    plus,
    times,
)
from transom.algebra.windows import (
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    RangeIntersection,
    RegionRange,
    UnboundedRange,
    Window,
)
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar, Rate
from transom.model.types import Type

A, B, T = Arrivals("a", 10), Arrivals("b", 5), TableRows("t")
KNOWN = DeclaredStatistics({"a": Rate(4, 3), "b": Rate(1, 1)}, {"t": 20})
CARS = StreamReceive("a", Schema((Attribute("x", Type.INTEGER, "a"),)))
PLACE = Position("x", None)
SEA = from_wkt("sea", "POLYGON ((0 0, 1 0, 1 1, 0 0))")
CATALOG = transom.Catalog.read("""
extents:
  a: pushed (x:integer)
  r: sensed (y:integer)
  t: stored (z:integer)
  k: {declare: "pushed (w:integer)", rate: 6 per min}
""")


def test_formulas_are_simplified() -> None:
    assert plus() == plus(ZERO, ZERO) == ZERO
    assert plus(A, RowCount(2), ZERO, RowCount(3)) == plus(A, RowCount(5))
    assert plus(A, A) == times(RowCount(2), A)
    assert times() == times(ONE, ONE) == ONE
    assert times(A, ZERO) == ZERO
    assert times(RowCount(2), RowCount(3)) == RowCount(6)
    assert ceil_divide(A, 1) == A
    assert ceil_divide(RowCount(7), 3) == RowCount(3)
    assert ceil_divide(A, 3) == CeilDivision(A, 3)
    assert minimum(RowCount(3), RowCount(2)) == RowCount(2)
    assert minimum(A, RowCount(2), A) == Minimum((RowCount(2), A))


@pytest.mark.parametrize(
    ("formula", "value", "words"),
    [
        (RowCount(3), 3, "3"),
        (A, 16, "rate(a) * 10 s"),
        (T, 20, "rows(t)"),
        (plus(A, B, RowCount(1)), 22, "rate(a) * 10 s + rate(b) * 5 s + 1"),
        (times(RowCount(2), plus(A, T), B), 360, "2 * (rate(a) * 10 s + rows(t)) * rate(b) * 5 s"),
        (ceil_divide(A, 3), 6, "ceil(rate(a) * 10 s / 3)"),
        (minimum(A, RowCount(7)), 7, "least(7, rate(a) * 10 s)"),
        (Unbounded("it grows"), None, "unbounded (it grows)"),
        (plus(A, Arrivals("c", 1)), None, "rate(a) * 10 s + rate(c) * 1 s"),
        (times(T, TableRows("u")), None, "rows(t) * rows(u)"),
        (ceil_divide(Arrivals("c", 1), 2), None, "ceil(rate(c) * 1 s / 2)"),
        (minimum(Arrivals("c", 1), RowCount(4)), 4, "least(4, rate(c) * 1 s)"),
    ],
)
def test_value_and_words(formula: object, value: int | None, words: str) -> None:
    assert evaluate_rows(formula, KNOWN) == value  # type: ignore[arg-type]
    assert formula_text(formula, Calendar()) == words  # type: ignore[arg-type]


def test_what_is_missing() -> None:
    gap = Unbounded("it grows", ("stop it",))
    formula = plus(A, Arrivals("c", 1), Arrivals("c", 9), ceil_divide(TableRows("u"), 2), gap)
    assert missing_declarations(formula, KNOWN) == [Arrivals("c", 1), TableRows("u"), gap]
    assert missing_declarations(plus(A, T), KNOWN) == []


def test_windows_of_other_languages_have_bounds() -> None:
    tick, index, distance = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE
    rows_5 = Window(CARS, OnArrival(), CoordinateRange(index, Bound(1, -4), Bound(1, 0)))
    assert (operator_state(rows_5), window_size(rows_5)) == (RowCount(5), RowCount(5))
    assert window_ticks(rows_5, 7) == Minimum((RowCount(7), Arrivals("a", 7)))
    sparql = Window(CARS, Every(tick, 1), CoordinateRange(tick, Bound(5, 5 - 20), Bound(1, 0)))
    assert (operator_state(sparql), window_size(sparql)) == (Arrivals("a", 20), Arrivals("a", 20))
    mixed = Window(CARS, Every(distance, 10), CoordinateRange(tick, Bound(1, -600), Bound(1, 0)), position=PLACE)
    assert operator_state(mixed) == Sum((Arrivals("a", 601), RowCount(1)))
    assert windows_within(mixed, 9) == RowCount(9)
    for window in (
        Window(CARS, OnArrival(), RegionRange(SEA), position=PLACE),
        Window(CARS, Every(distance, 10), CoordinateRange(distance, Bound(10, -50), Bound(10, 0)), position=PLACE),
        Window(CARS, OnArrival(), UnboundedRange()),
    ):
        assert not is_bounded(operator_state(window), KNOWN)
    assert at_most_one_window_per_tick(rows_5)
    assert not at_most_one_window_per_tick(
        Window(CARS, Every(index, 1, 1), CoordinateRange(index, Bound(1, 0), Bound(1, 0)))
    )
    assert arrivals(CARS, 0) == ZERO


def test_hints_bound_windows_in_space() -> None:
    tick, distance = Coordinate.TICK, Coordinate.DISTANCE
    key = CARS.schema.attributes
    told = {("a", Hint.KEYS): 7, ("a", Hint.ROWS_PER_KEY): 30, ("a", Hint.DWELL): 8}
    rates = {"a": Rate(4, 1)}
    way = CoordinateRange(distance, Bound(10, -50), Bound(10, 0))
    region = Window(CARS, OnArrival(), RegionRange(SEA), position=PLACE)
    cars = Window(CARS, Every(distance, 10), way, key, position=PLACE)
    lately = RangeIntersection((RegionRange(SEA), CoordinateRange(tick, Bound(1, -9), Bound(1, 0))))
    for window, names, expected in (
        (region, (), None),
        (region, (Hint.KEYS, Hint.ROWS_PER_KEY), 7 * 30),
        (region, (Hint.DWELL,), None),
        (cars, (Hint.KEYS, Hint.ROWS_PER_KEY), 7 * 30 + 7),
        (cars, (Hint.KEYS, Hint.DWELL), 4 * 9 + 7),
        (cars, (Hint.ROWS_PER_KEY,), None),
        (replace(cars, key=()), (Hint.ROWS_PER_KEY,), 30 + 1),
        (replace(region, range=lately), (), 4 * 10),
        (
            replace(cars, slide=OnArrival(), range=CoordinateRange(Coordinate.INDEX, Bound(1, -2), Bound(1, 0))),
            (Hint.KEYS,),
            21,
        ),
    ):
        known = DeclaredStatistics(rates, {}, {("a", name): told["a", name] for name in names})
        formula = operator_state(window)
        assert evaluate_rows(formula, known) == expected
        assert is_bounded(formula, known) == (expected is not None)
        if expected is None:
            assert any(isinstance(gap, Unbounded) and gap.hints for gap in missing_declarations(formula, known))
        assert "unbounded" not in formula_text(formula, Calendar())
    assert evaluate_rows(windows_within(cars, 5), DeclaredStatistics(rates, {}, told)) == 5 * 7
    assert not at_most_one_window_per_tick(cars)


@pytest.mark.parametrize(
    ("query", "state", "hint"),
    [
        ("SELECT x FROM a [FROM NOW-2 TO NOW SLIDE 1 SEC]", "rate(a) * 3 s", "rate of a"),
        ("SELECT y FROM r [FROM NOW-2 TO NOW SLIDE 1 SEC]", "rate(r) * 3 s", "sites of r"),
        ("ISTREAM(SELECT z FROM t [SCAN 1 SEC])", "rows(t)", "size of t"),
        ("SELECT w FROM k [FROM NOW-2 TO NOW SLIDE 1 MIN]", "rate(k) * 121 s = 18", None),
        ("SELECT w FROM k [FROM NOW-2 TO NOW SLIDE 1 ROW]", "3", None),
        ("SELECT w FROM k [FROM NOW TO NOW-2 SLIDE 1 MIN]", "0", None),
        (
            "SELECT w FROM (RSTREAM(SELECT w FROM k [FROM NOW TO NOW SLIDE 1 MIN])) [FROM NOW-9 TO NOW SLIDE 1 SEC]",
            "2 * rate(k) * 1 s = 12",
            None,
        ),
        (
            "SELECT w FROM (RSTREAM(SELECT w FROM k [FROM NOW-2 TO NOW SLIDE 2 ROWS])) [FROM NOW-9 TO NOW SLIDE 1 SEC]",
            "3 * ceil(rate(k) * 10 s / 2) + 3 = 12",
            None,
        ),
    ],
)
def test_bounds_of_queries(query: str, state: str, hint: str | None) -> None:
    found = transom.compile(query, CATALOG).state
    assert str(found) == state
    assert found.bounded
    assert (hint in found.hints[0]) if hint else found.hints == ()


def test_ticks_that_two_windows_share_are_counted_once() -> None:
    same = "SELECT a.w FROM k [FROM NOW TO NOW SLIDE 2 SEC] AS a, k [FROM NOW TO NOW SLIDE 4 SEC] AS b"
    other = same.replace("SLIDE 4", "SLIDE 3")
    for text_of, ticks in ((same, 5), (other, 9)):
        plan = transom.compile(text_of, CATALOG, optimize=False).algebra
        assert evaluate_rows(window_ticks(plan, 10), DeclaredStatistics()) == ticks  # type: ignore[arg-type]


def test_factors_of_equal_parts_are_added() -> None:
    assert formula_text(plus(times(RowCount(2), A), A, times(RowCount(3), A)), Calendar()) == "6 * rate(a) * 10 s"
