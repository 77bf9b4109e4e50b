"""Every machine against the reference engine, on generated rows, in random portions, with restarts."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

import pytest

import transom
from tests.cases import catalog_of, inputs_of
from tests.machines.drive import changed, cut, numbered
from tests.oracle.generate import generate
from transom.algebra.sources import StoredTable, StreamReceive
from transom.algebra.state.bounds import operator_state
from transom.algebra.state.formula import DeclaredStatistics, evaluate_rows
from transom.algebra.tree import walk
from transom.algebra.windows import (
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnRowCount,
    RegionRange,
    UnboundedRange,
    Window,
    scan_window,
)
from transom.errors import DataError, Unsupported
from transom.machines.numbering import RowNumberMachine
from transom.machines.windows.window import WindowMachine, WindowSpec
from transom.machines.windows.window_changes import WindowChangesMachine
from transom.model.bag import Bag, Element, Row, row_identity
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position
from transom.model.schema import Attribute, Schema
from transom.model.time import Rate
from transom.model.types import Type
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs
from transom.reference.streams import d_stream, i_stream, renumber
from transom.reference.windows import window as reference_window

STREAM = StreamReceive("a", Schema((Attribute("x", Type.INTEGER, "a"),)))
TICK, INDEX = Coordinate.TICK, Coordinate.INDEX
PLACE = Position("x", None)


def random_rows(rng: random.Random, until: int) -> list[Element]:
    """A stream with ticks without rows, ticks with several, and equal rows."""
    ticks = sorted(rng.choice(range(until + 1)) for _ in range(rng.randrange(14)))
    return [Element(tick, place, (rng.randrange(3),)) for place, tick in enumerate(ticks, start=1)]


def random_window(rng: random.Random) -> Window:
    """Any window on tick or index: SNEEql's, CQL's and SPARQL's."""
    step, past, until = rng.randint(1, 5), rng.randint(0, 9), rng.choice([0, 0, 1, 3, 12])
    kind = rng.randrange(6)
    if kind == 0:
        return Window(STREAM, Every(TICK, step), CoordinateRange(TICK, Bound(step, -past), Bound(step, -until)))
    if kind == 1:
        return Window(STREAM, Every(INDEX, step, step), CoordinateRange(INDEX, Bound(step, -past), Bound(step, -until)))
    if kind == 2:
        return Window(STREAM, OnArrival(), CoordinateRange(INDEX, Bound(1, -past), Bound(1, 0)))
    if kind == 3:
        return Window(STREAM, OnArrival(), CoordinateRange(TICK, Bound(1, -past), Bound(1, 0)))
    if kind == 4:
        return Window(STREAM, Every(TICK, step), CoordinateRange(INDEX, Bound(1, -past), Bound(1, 0)))
    width = step + past
    return Window(STREAM, Every(TICK, 1), CoordinateRange(TICK, Bound(step, step - width), Bound(1, 0)))


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.deep) for part in range(1, 8))])
def test_window(part: int) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(part * 500, (part + 1) * 500):
        rng = random.Random(seed)
        op, until, start = random_window(rng), rng.randint(0, 25), rng.choice([0, 0, 3])
        inputs = Inputs(until, {"a": random_rows(rng, until)}, start=start)
        stream = inputs.elements_of("a")
        expected = reference_window(op, stream, inputs)
        spec = WindowSpec.of(op, start)
        windows, most = cut(spec, [(e.tick, e.row) for e in stream], until, rng)
        assert windows == expected, f"seed {seed}: {spec}"
        busiest = max(Counter(e.tick for e in stream).values(), default=0)
        bound = evaluate_rows(operator_state(op), DeclaredStatistics({"a": Rate(busiest, 1)}))
        assert bound is not None
        assert most <= bound, f"seed {seed}: {spec}"
        kinds[f"{spec.slide}/{spec.range}"] += len(windows)
    assert min(kinds.values()) > 100
    assert set(kinds) == {"tick/tick", "index/index", "arrival/index", "arrival/tick", "tick/index"}


def test_windows_of_generated_queries() -> None:
    count = 0
    for seed in range(100):
        rng = random.Random(seed)
        question = generate(seed)
        query = transom.compile(question.text, catalog_of(question.schema))
        inputs = query.inputs(inputs_of(question.schema, question.inputs), question.until)
        for op in walk(query.optimized):
            if isinstance(op, Window) and not isinstance(op.input, StoredTable):
                stream = evaluate_stream(op.input, inputs)
                machine, _ = cut(WindowSpec.of(op), [(e.tick, e.row) for e in stream], inputs.until, rng)
                if "index" not in [tag.name for tag in op.tags]:
                    assert machine == reference_window(op, stream, inputs), question.text
                    count += 1
    assert count > 50


def test_order() -> None:
    for seed in range(500):
        rng = random.Random(seed)
        stream = [e for e in random_rows(rng, 20) if rng.random() < 0.7]
        assert numbered([(e.tick, e.row) for e in stream], rng) == renumber(stream)


def random_windows(rng: random.Random, several: bool) -> list[Bag]:
    """A stream of windows, several per tick where that is asked."""
    windows: list[Bag] = []
    for tick in sorted(rng.sample(range(12), rng.randrange(7))):
        for _ in range(rng.randint(1, 3) if several else 1):
            windows.append(Bag(tick, tuple((rng.randrange(3),) for _ in range(rng.randrange(4)))))
    return windows


def test_change() -> None:
    for seed in range(1000):
        rng = random.Random(seed)
        windows = random_windows(rng, several=True)
        assert changed("inserted", windows, rng) == i_stream(windows)
        assert changed("deleted", windows, rng) == d_stream(windows)


def test_state_keeps_every_type() -> None:
    row: Row = (1, 1.5, "é\ud800'", True, None, Decimal("1.5"), datetime(2009, 3, 2, 6, 0, 0, 5, tzinfo=UTC))
    machine = WindowChangesMachine("inserted")
    list(machine.take(Bag(3, (row, row))))
    again = WindowChangesMachine.load(machine.save())
    assert list(map(row_identity, again.previous)) == [row_identity(row)] * 2
    assert [type(v) for v in again.previous[0]] == [type(v) for v in row]
    assert again.held == 2
    assert machine.save()[0] == 1


def test_state_of_another_machine_or_version_is_refused() -> None:
    state = RowNumberMachine(5).save()
    with pytest.raises(DataError, match="the state of order was given to change"):
        WindowChangesMachine.load(state)
    for other in (b"", bytes([9]) + state[1:]):
        with pytest.raises(DataError, match="version"):
            RowNumberMachine.load(other)


def test_what_no_window_machine_cuts() -> None:
    table = StoredTable("t", Schema((Attribute("y", Type.INTEGER, "t"),)))
    for op in (
        scan_window(table, 5),
        Window(STREAM, OnArrival(), RegionRange(from_wkt("sea", "POLYGON ((0 0, 1 0, 1 1, 0 0))")), position=PLACE),
        Window(STREAM, OnRowCount(2), CoordinateRange(Coordinate.INDEX, Bound(2, -5), Bound(2, 0))),
        Window(STREAM, OnArrival(), UnboundedRange()),
        Window(STREAM, Every(TICK, 5), CoordinateRange(Coordinate.DISTANCE, Bound(1, -5), Bound(1, 0)), position=PLACE),
        Window(STREAM, Every(Coordinate.DISTANCE, 5), CoordinateRange(TICK, Bound(1, -5), Bound(1, 0)), position=PLACE),
    ):
        with pytest.raises(Unsupported):
            WindowSpec.of(op)


def test_order_holds_nothing() -> None:
    machine = RowNumberMachine()
    assert list(machine.advance(9)) == []
    assert machine.held == 0
    assert WindowMachine(WindowSpec.of(random_window(random.Random(0)))).held == 0
