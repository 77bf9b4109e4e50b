"""Equalities that the definitions claim: between languages, between windows and intervals, between orders of joins."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from transom.algebra.cql_windows import (
    distance_window,
    last_rows_window,
    recent_window,
    recent_window_by_distance,
    region_window,
    unbounded_window,
)
from transom.algebra.expressions.expression import TRUE, Column, Expression, call, identity_items
from transom.algebra.operator import Windows
from transom.algebra.relations import RelationJoin, WindowCrossProduct, WindowMerge, WindowProject
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import DStream, IStream, RStream
from transom.algebra.windows import Bound, Coordinate, CoordinateRange, Every, Window, row_window, time_window
from transom.model.bag import Bag, Element, Row
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position
from transom.model.schema import Attribute, Schema
from transom.model.types import Type
from transom.reference.evaluate import evaluate_stream, evaluate_window
from transom.reference.sources import Inputs

TICK = Coordinate.TICK
METRE = 1_000_000
PLACE = Position("x", None, unit=METRE)
ZONE = from_wkt("zone", "POLYGON ((0 -1, 5 -1, 5 1, 0 1, 0 -1))")


def source(name: str) -> StreamReceive:
    """A stream of a number and a place on a line."""
    return StreamReceive(name, Schema((Attribute("n", Type.INTEGER, name), Attribute("x", Type.FLOAT, name))))


A, B, C = source("a"), source("b"), source("c")


def drawn(rng: random.Random, until: int, most: int = 2) -> list[Element]:
    """A short random stream with so many rows per tick at most."""
    ticks = [t for t in range(until + 1) for _ in range(rng.randint(0, most))]
    return [Element(t, i, (rng.randrange(3), float(rng.randint(0, 9)))) for i, t in enumerate(ticks, start=1)]


def relation(windows: Sequence[Bag], until: int) -> list[Counter[Row]]:
    """What a relation is at every tick; nothing before the first window."""
    found = []
    for t in range(until + 1):
        held = [w for w in windows if w.tick <= t]
        found.append(Counter(held[-1].rows if held else ()))
    return found


@pytest.mark.parametrize(("past", "slide"), [(0, 1), (3, 1), (3600, 600), (2, 5)])
def test_a_range_is_one_window_in_both_languages(past: int, slide: int) -> None:
    assert recent_window(A, past, slide) == time_window(A, past, 0, slide)


def test_rows_are_one_answer_with_one_row_per_tick() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        given = Inputs(12, {"a": drawn(rng, 12, most=1)})
        count, slide = rng.randint(1, 4), rng.randint(1, 3)
        ours = evaluate_window(last_rows_window(A, count, slide), given)
        assert ours == evaluate_window(row_window(A, count - 1, 0, slide), given)


def test_rows_differ_with_several_rows_per_tick() -> None:
    given = Inputs(1, {"a": [Element(1, 1, (0, 0.0)), Element(1, 2, (1, 0.0))]})
    assert len(evaluate_window(last_rows_window(A, 1), given)) == 1
    assert len(evaluate_window(row_window(A, 0, 0, 1), given)) == 2


def test_a_half_open_range_of_sparql_is_a_closed_one_of_one_tick_less() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        given = Inputs(15, {"a": drawn(rng, 15)})
        width = rng.randint(1, 6)
        sparql = Window(A, Every(TICK, 1), CoordinateRange(TICK, Bound(1, 1 - width), Bound(1, 0)))
        assert evaluate_window(sparql, given) == evaluate_window(recent_window(A, width - 1), given)


def test_windows_and_intervals_say_the_same() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        given = Inputs(20, {"a": drawn(rng, 20, most=1)})
        past, slide = rng.randint(0, 6), rng.randint(1, 4)
        shown = relation(evaluate_window(recent_window(A, past, slide), given), 20)
        for t, rows in enumerate(shown):
            valid = [
                e.row
                for e in given.streams["a"]
                if -(-e.tick // slide) * slide <= t < ((e.tick + past) // slide + 1) * slide
            ]
            assert rows == Counter(valid)


def some_window(rng: random.Random, stream: StreamReceive) -> Window:
    """A window of any kind."""
    key = rng.choice(((), stream.schema.attributes[:1]))
    way = Every(Coordinate.DISTANCE, rng.randint(1, 4) * METRE)
    return rng.choice(
        [
            recent_window(stream, rng.randint(0, 4), rng.randint(1, 3), key),
            last_rows_window(stream, rng.randint(1, 3), rng.randint(1, 2), key),
            region_window(stream, PLACE, ZONE, None, key),
            unbounded_window(stream, None, key),
            distance_window(stream, PLACE, rng.randint(1, 9) * METRE, way, key),
            distance_window(stream, PLACE, rng.randint(1, 9) * METRE, Every(TICK, rng.randint(1, 3)), key),
            recent_window_by_distance(stream, PLACE, rng.randint(0, 5), way.step, key),
        ]
    )


def equal(left: StreamReceive, right: StreamReceive) -> Expression:
    """Whether the numbers of two streams are equal."""
    return call("=", Column(left.schema.attributes[0]), Column(right.schema.attributes[0]))


def as_bags(plan: Windows, given: Inputs) -> list[tuple[int, Counter[Row]]]:
    """The windows of a plan with their tuples as bags."""
    return [(w.tick, Counter(w.rows)) for w in evaluate_window(plan, given)]


def test_joins_can_be_put_together_in_any_order() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        given = Inputs(8, {name: drawn(rng, 8) for name in "abc"})
        a, b, c = some_window(rng, A), some_window(rng, B), some_window(rng, C)
        first = RelationJoin(RelationJoin(a, b, equal(A, B)), c, equal(B, C))
        second = RelationJoin(a, RelationJoin(b, c, equal(B, C)), equal(A, B))
        assert as_bags(first, given) == as_bags(second, given)
        turned = RelationJoin(c, RelationJoin(b, a, equal(A, B)), equal(B, C))
        columns = identity_items(first.schema)
        assert as_bags(first, given) == as_bags(WindowProject(turned, columns), given)


def test_joins_differ_from_products_only_before_both_have_started() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        given = Inputs(8, {"a": drawn(rng, 8), "b": drawn(rng, 8)})
        a, b = recent_window(A, 3, rng.randint(1, 3)), last_rows_window(B, 2)
        ours = evaluate_window(RelationJoin(a, b, TRUE), given)
        theirs = evaluate_window(WindowCrossProduct(a, b), given)
        begun = min((w.tick for w in theirs), default=99)
        assert [w for w in ours if w.tick >= begun] == theirs
        assert not any(w.rows for w in ours if w.tick < begun)


def test_what_came_and_went_adds_up_to_what_is_there() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        given = Inputs(10, {"a": drawn(rng, 10), "b": drawn(rng, 10)})
        window = some_window(rng, A)
        plan: Windows = RelationJoin(window, some_window(rng, B), equal(A, B)) if rng.random() < 0.5 else window
        came = Counter((e.tick, e.row) for e in evaluate_stream(IStream(plan), given))
        went = Counter((e.tick, e.row) for e in evaluate_stream(DStream(plan), given))
        assert not came & went or window.key
        held = relation(evaluate_window(WindowMerge(plan), given), 10)
        total: Counter[Row] = Counter()
        for t, rows in enumerate(held):
            total.update({row: n for (tick, row), n in came.items() if tick == t})
            total.subtract({row: n for (tick, row), n in went.items() if tick == t})
            assert +total == rows


def test_keys_are_as_if_each_had_a_stream_of_its_own() -> None:
    for seed in range(80):
        rng = random.Random(seed)
        rows = drawn(rng, 10)
        window = some_window(rng, A)
        if not window.key:
            continue
        found = evaluate_window(window, Inputs(10, {"a": rows}))
        for key in {e.row[0] for e in rows}:
            own = [e for e in rows if e.row[0] == key]
            alone = [Element(e.tick, i, e.row) for i, e in enumerate(own, start=1)]
            wanted = evaluate_window(
                Window(A, window.slide, window.range, position=window.position), Inputs(10, {"a": alone})
            )
            mine = [Bag(w.tick, w.rows) for w in found if w.key == (key,)]
            assert mine == [w for w in wanted if w.tick >= own[0].tick]


def test_a_place_scaled_is_a_window_scaled() -> None:
    for seed in range(30):
        rng = random.Random(seed)
        rows = drawn(rng, 10)
        length, step = rng.randint(1, 9), rng.randint(1, 4)
        metres = distance_window(A, PLACE, length * METRE, Every(Coordinate.DISTANCE, step * METRE))
        unit = Position("x", None, unit=1000 * METRE)
        kilometres = distance_window(A, unit, length * 1000 * METRE, Every(Coordinate.DISTANCE, step * 1000 * METRE))
        given = Inputs(10, {"a": rows})
        assert evaluate_window(metres, given) == evaluate_window(kilometres, given)
        away = Inputs(10, {"a": [Element(e.tick, e.index, (e.row[0], 100.0 - e.row[1])) for e in rows]})  # type: ignore[operator]
        assert [len(w.rows) for w in evaluate_window(metres, away)] == [
            len(w.rows) for w in evaluate_window(metres, given)
        ]


def test_rstream_of_keys_is_all_their_windows() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        given = Inputs(8, {"a": drawn(rng, 8)})
        window = some_window(rng, A)
        wanted = Counter((w.tick, row) for w in evaluate_window(window, given) for row in w.rows)
        assert Counter((e.tick, e.row) for e in evaluate_stream(RStream(window), given)) == wanted
