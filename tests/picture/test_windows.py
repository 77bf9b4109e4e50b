"""What is drawn is what the reference evaluates: windows, bounds, members, pairs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.cases import Case, golden_cases
from tests.picture.drawing import IRREGULAR, OFFSET, TRAFFIC, draw, draw_case, number, traffic
from transom.algebra.relations import WindowCrossProduct
from transom.algebra.sources import StreamReceive
from transom.algebra.tree import walk
from transom.algebra.windows import (
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    RegionRange,
    UnboundedRange,
    Window,
    time_window,
)
from transom.errors import UsageError
from transom.model.bag import Element
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.picture import draw_picture
from transom.picture.timeline.lanes import window_operators
from transom.reference.evaluate import evaluate_window
from transom.reference.sources import Inputs

ANSWERS = [c for c in golden_cases() if c.expected["kind"] != "error"]
CASES = {case.name[:3]: case for case in ANSWERS}


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case.name)
def test_every_golden_case_shows_the_windows_of_the_reference(case: Case) -> None:
    drawing = draw_case(case)
    operators = [op for op, _ in window_operators(drawing.plan)]
    assert {id(op) for op in operators} == {id(op) for op in walk(drawing.plan) if isinstance(op, Window)}
    assert len(drawing.all("lane")) == max(len(operators), 1)
    for op, lane in zip(operators, drawing.all("lane")):
        bags = [(w.tick, len(w.rows)) for w in evaluate_window(op, drawing.inputs)]
        shown = [(number(w, "data-created"), number(w, "data-rows")) for w in drawing.all("window", lane)]
        assert shown == bags[: len(shown)]
        assert shown or not bags
        assert len(drawing.all("bar", lane)) == len(shown) == number(lane, "data-windows")
        assert [("hollow" in bar.get("class", "")) for bar in drawing.all("bar", lane)] == [
            not rows for _, rows in shown
        ]


def test_bars_reach_over_both_bounds() -> None:
    drawing = draw(OFFSET, TRAFFIC, traffic(IRREGULAR), 60)
    windows = drawing.windows("traffic")
    assert [number(w, "data-created") for w in windows] == [0, 5, 10, 15, 20, 25, 30, 35, 40]
    assert [number(w, "data-rows") for w in windows] == [0, 0, 0, 4, 5, 3, 4, 6, 5]
    for window in windows:
        created = number(window, "data-created")
        assert (number(window, "data-low"), number(window, "data-high")) == (created - 20, created - 10)
        bar = drawing.all("bar", window)[0]
        start, end = float(bar.get("x", "")), float(bar.get("x", "")) + float(bar.get("width", ""))
        half_tick = (drawing.at(1) - drawing.at(0)) / 2 + 1
        assert drawing.at(created - 20) - half_tick < start < drawing.at(created - 20) - 4
        assert drawing.at(created - 10) + 4 < end < drawing.at(created - 10) + half_tick
        mark = drawing.all("creation", window)[0]
        assert float(mark.get("points", "").split(",")[0]) == pytest.approx(drawing.at(created), abs=0.1)


def test_dots_stand_at_their_ticks_and_members_of_the_example_are_chosen() -> None:
    drawing = draw(OFFSET, TRAFFIC, traffic(IRREGULAR), 60)
    dots = drawing.all("tuple")
    assert [number(d, "data-tick") for d in dots] == [t for t in IRREGULAR if t <= 40]
    for dot in dots:
        circle = next(e for e in dot if e.tag.endswith("circle"))
        assert float(circle.get("cx", "")) == pytest.approx(drawing.at(number(dot, "data-tick")), abs=0.1)
    assert [number(d, "data-tick") for d in drawing.all("chosen")] == [20, 22, 25, 25, 25]
    example = drawing.windows("traffic")[-1]
    assert all(c.get("fill") == example.get("data-colour") for d in drawing.all("chosen") for c in d.findall("*")[1:2])
    assert "tuples of the window created at 40" in drawing.words
    assert all(words in drawing.words for words in ("NOW-20 = 20", "NOW-10 = 30", "NOW = 40"))


def test_a_window_says_what_it_is() -> None:
    words = draw(OFFSET, TRAFFIC, traffic(IRREGULAR), 60).words
    assert "FROM NOW-20 TO NOW-10 SLIDE 5 SEC" in words
    assert "every 5 seconds a window with the tuples that are 10 to 20 seconds old (ticks now-20 to now-10)" in words


def test_row_windows_reach_from_their_first_to_their_last_row() -> None:
    drawing = draw("SELECT weight FROM traffic [FROM NOW-2 TO NOW SLIDE 2 ROWS]", TRAFFIC, traffic(IRREGULAR), 60)
    second = drawing.windows("traffic")[1]
    assert (number(second, "data-low"), number(second, "data-high"), number(second, "data-created")) == (2, 4, 4)
    bar = drawing.all("bar", second)[0]
    middle = float(bar.get("x", "")) + float(bar.get("width", "")) / 2
    assert middle == pytest.approx((drawing.at(3) + drawing.at(4)) / 2, abs=0.1)
    assert "rows 2 to 4, created at 4" in drawing.words
    assert "at every 2nd row a window with that row and the 2 rows before it" in drawing.words


def test_paired_windows_share_a_colour() -> None:
    drawing = draw_case(CASES["s02"])
    colours = {number(o, "data-tick"): o.get("fill") for o in drawing.all("output")}
    assert list(colours) == [30, 60, 120, 130]
    assert len(set(colours.values())) == 4
    assert [number(o, "data-pairs") for o in drawing.all("output")] == [1, 2, 2, 1]
    for lane in ("road", "traffic"):
        for window in drawing.windows(lane):
            created = number(window, "data-created")
            assert window.get("data-colour") == colours.get(created, "#7a8594")
    again = [[number(p, "data-tick") for p in drawing.all("pair", w)] for w in drawing.windows("traffic")]
    assert again == [[], [120], [120], []]
    assert [[number(p, "data-tick") for p in drawing.all("pair", w)] for w in drawing.windows("road")] == [
        [30],
        [],
        [130],
    ]
    assert {p.get("fill") for p in drawing.all("pair") if p.get("data-tick") == "120"} == {colours[120]}
    assert [number(g, "data-tick") for g in drawing.all("guide")] == [0, 30, 60, 120, 130]


def test_three_lanes_are_paired_together() -> None:
    drawing = draw_case(CASES["s25"])
    assert list(drawing.lanes) == ["a", "b", "c"]
    assert [number(o, "data-tick") for o in drawing.all("output")] == [0, 2, 3, 4, 6]
    assert "SCAN 4 SEC" in drawing.words


def test_no_colour_stands_for_two_answers() -> None:
    text = "SELECT u.weight FROM traffic AS u [FROM NOW TO NOW SLIDE 3 SEC], traffic AS v [FROM NOW TO NOW SLIDE 2 SEC]"
    drawing = draw(text, TRAFFIC, traffic(IRREGULAR), 60)
    colours = [o.get("fill") for o in drawing.all("output")]
    assert len(colours) == len(set(colours)) == 8
    assert list(drawing.lanes) == ["traffic AS u", "traffic AS v"]


def test_windows_of_a_subquery_have_colours_of_their_own() -> None:
    drawing = draw_case(CASES["s27"])
    assert list(drawing.lanes) == ["traffic", "subquery on traffic"]
    assert not drawing.all("output")
    assert "its tuples are the answer made from the windows above" in drawing.words


A, B = (Schema((Attribute("x", Type.INTEGER, name),)) for name in "ab")
SEA = from_wkt("Sea", "POLYGON ((0 0, 1 0, 1 1, 0 0))")
IN_SEA = Window(StreamReceive("b", B), OnArrival(), RegionRange(SEA), position=Position("x", None))
BY_LENGTH = CoordinateRange(Coordinate.DISTANCE, Bound(1, -5), Bound(1, 0))


@pytest.mark.parametrize(
    ("op", "part"),
    [
        (IN_SEA, "a window by region"),
        (WindowCrossProduct(time_window(StreamReceive("a", A), 5, 0, 5), IN_SEA), "a window by region"),
        (replace(time_window(StreamReceive("a", A), 5, 0, 5), key=A.attributes), "a window for each x"),
        (Window(StreamReceive("b", B), OnArrival(), BY_LENGTH, position=Position("x", None)), "a window by distance"),
        (Window(StreamReceive("a", A), OnArrival(), UnboundedRange()), "a window without bounds"),
    ],
)
def test_what_cannot_be_drawn_is_refused(op: Window | WindowCrossProduct, part: str) -> None:
    with pytest.raises(UsageError, match=f"cannot show {part}") as refusal:
        draw_picture(op, Inputs(20, {"a": [], "b": []}), Calendar())
    assert refusal.value.hint == "`transom simulate` prints the answer"
    with pytest.raises(UsageError) as refusal:
        draw_picture(op, Inputs(20, {"a": [], "b": []}), Calendar(), has_positions=True)
    assert "`transom map`" in str(refusal.value.hint)


def test_a_window_holds_only_what_had_arrived() -> None:
    schema = Schema((Attribute("x", Type.INTEGER, "a"),))
    ahead = CoordinateRange(Coordinate.TICK, Bound(5, -2), Bound(5, 3))
    op = Window(StreamReceive("a", schema), Every(Coordinate.TICK, 5), ahead)
    given = Inputs(20, {"a": [Element(tick, tick, (tick,)) for tick in range(1, 20)]})
    shown = re.findall(r'data-created="(\d+)" data-rows="(\d+)"', draw_picture(op, given, Calendar()))
    assert [(int(tick), int(rows)) for tick, rows in shown] == [
        (w.tick, len(w.rows)) for w in evaluate_window(op, given)
    ]


def test_a_fast_lane_ends_the_span() -> None:
    inner = "ISTREAM(SELECT weight FROM traffic [FROM NOW TO NOW SLIDE 1 SEC])"
    drawing = draw(f"SELECT weight FROM ({inner}) [FROM NOW-9 TO NOW SLIDE 9 MIN]", TRAFFIC, traffic(IRREGULAR), 9000)
    assert [len(drawing.windows(lane)) for lane in drawing.lanes] == [14, 1]
    assert "more window" not in drawing.words
    assert "ticks 0 to 13 of 9000" in drawing.words
