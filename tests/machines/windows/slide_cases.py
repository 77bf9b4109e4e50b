"""Cases for the slide machine: values that are hard to add up, rows, scripts, and what windows are by definition."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.machines.windows.slide_driver import Script
from transom.algebra.expressions.expression import Aggregate, AggregateFunction, Column
from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.machines.windows.slide import SlidingWindowSpec
from transom.model.bag import Row
from transom.model.schema import Attribute, Schema
from transom.model.types import INTEGER_MAX, INTEGER_MIN, Type, Value, coerce_value, is_value_of, normalize_decimal
from transom.reference.expressions import aggregate

TYPES = (Type.INTEGER, Type.FLOAT, Type.DECIMAL, Type.STRING, Type.BOOLEAN, Type.TIMESTAMP)
LETTERS = ("a", "b", "é", "\uffff", "\ue000", "\U0001f600", "\U00010000")
COUNT = SlidingAggregateSpec("count", "integer", None)
CASES = 6000
CASES_OF_TIMES, CASES_OF_ENDS = 3300, 1100
TIMES = [(a, b, s) for s in range(1, 8) for b in range(-3, 13) for a in range(b, 13)]
"""Windows FROM NOW-a TO NOW-b SLIDE s."""


def awkward(rng: random.Random) -> float:
    """A float of the range that exact sums take: short, long, huge, tiny, or beside one of these."""
    sign = rng.choice([-1.0, 1.0])
    kind = rng.randrange(10)
    if kind == 0:
        return rng.choice([0.0, -0.0, 0.1, 0.2, 0.3, 1e22, 1e23, 9007199254740993.0, 2.0**53 - 1, 1e15, 1e-6, 5e-7])
    if kind == 1:
        return sign * rng.randrange(100_000) / 100
    if kind == 2:
        return sign * 2.0 ** rng.randint(-69, 80)
    if kind == 3:
        return sign * math.nextafter(2.0 ** rng.randint(-68, 80), rng.choice([-math.inf, math.inf]))
    if kind == 4:
        return sign * (rng.randrange(10**6) + 0.5) * 2.0 ** rng.randint(-20, 20)
    if kind == 5:
        return sign * float(f"{rng.randint(10**15, 10**17 - 1)}e{rng.randint(-36, 6)}")
    if kind == 6:
        return sign * math.nextafter(10.0 ** rng.randint(-20, 24), rng.choice([-math.inf, math.inf]))
    if kind == 7:
        return sign * float(f"{rng.randint(1, 10**15)}e{rng.randint(-21, 8)}")
    return sign * rng.random() * 10.0 ** rng.randint(-15, 20)


def decimal(rng: random.Random) -> Decimal:
    """A decimal of any size, or one of everyday."""
    sign = rng.randrange(2)
    if rng.random() < 0.5:
        return normalize_decimal(Decimal(rng.randrange(-10_000, 10_000)).scaleb(-2))
    length = rng.choice([1, 5, 18, 37, 38])
    digits = tuple(rng.randrange(10) for _ in range(length))
    number = normalize_decimal(Decimal((sign, digits, rng.choice([-38, -20, -18, 0, 3, 30, 38]))))
    return number if is_value_of(number, Type.DECIMAL) else Decimal(7)


def integer(rng: random.Random) -> int:
    return rng.choice([rng.randint(-9, 9), rng.randint(INTEGER_MIN, INTEGER_MAX), INTEGER_MAX, INTEGER_MIN, 2**53 + 1])


def value(rng: random.Random, kind: Type, used: list[Value]) -> Value:
    """A value of a type; sometimes NULL, sometimes one that was there, or what cancels it."""
    if rng.random() < 0.15:
        return None
    if used and rng.random() < 0.2:
        earlier = rng.choice(used)
        if isinstance(earlier, float) and rng.random() < 0.7:
            return -earlier
        if isinstance(earlier, Decimal) and earlier and rng.random() < 0.7:
            return earlier.copy_negate()
        return earlier
    match kind:
        case Type.INTEGER:
            return integer(rng)
        case Type.FLOAT:
            return awkward(rng)
        case Type.DECIMAL:
            return decimal(rng)
        case Type.STRING:
            return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(4)))
        case Type.BOOLEAN:
            return rng.random() < 0.5
        case _:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=rng.randint(-(10**15), 10**15))


def random_spec(rng: random.Random) -> tuple[SlidingWindowSpec, list[Type]]:
    kinds = [rng.choice([Type.FLOAT, Type.FLOAT, *TYPES]) for _ in range(rng.randint(1, 3))]
    aggregates = []
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(kinds))
        numbers = ["sum", "sum", "avg", "avg"] if kinds[place].is_number else []
        function = rng.choice(["count", "min", "max", *numbers])
        aggregates.append(SlidingAggregateSpec(function, kinds[place].value, place))
    if rng.random() < 0.3:
        aggregates.append(COUNT)
    spec = SlidingWindowSpec(rng.choice([1, 1, 2, 3, 4, 6, 25]), rng.choice([1, 1, 2, 5, 60]), tuple(aggregates))
    return spec, kinds


def random_rows(rng: random.Random, spec: SlidingWindowSpec, kinds: list[Type]) -> list[tuple[int, Row]]:
    """Rows by tick: several of one tick, ticks without rows, and gaps as long as you like."""
    used: list[list[Value]] = [[] for _ in kinds]
    rows: list[tuple[int, Row]] = []
    window = rng.randint(-5, 5)
    count, steps = rng.choice([(14, [0, 0, 1, 1, 1, 2, 3, 7, 30, 10**9])] * 19 + [(80, [0, 0, 0, 1])])
    for _ in range(rng.randrange(count)):
        window += rng.choice(steps)
        row = tuple(value(rng, kind, seen) for kind, seen in zip(kinds, used))
        for cell, seen in zip(row, used):
            if cell is not None:
                seen.append(cell)
        rows.append((window * spec.period, row))
    return rows


def with_ends(rows: list[tuple[int, Row]], times: tuple[int, int, int]) -> list[tuple[int, Row]]:
    """Rows of any tick with the stays that windows over time give them, but for those that no window holds."""
    (a, b, s), made = times, []
    for tick, row in rows:
        first, gone = -(-(tick + b) // s) * s, ((tick + a) // s + 1) * s
        if first < gone:
            made.append((first, (gone, *row)))
    return made


def with_any_ends(rng: random.Random, rows: list[tuple[int, Row]], period: int, back: int) -> list[tuple[int, Row]]:
    """Rows with ends that grow as they like; `back` says how many windows they may shrink by in between."""
    made: list[tuple[int, Row]] = []
    gone = rows[0][0] if rows else 0
    for tick, row in rows:
        gone = max(gone, tick + period) + period * rng.choice([0, 0, 0, 1, 2, 5])
        made.append((tick, (max(gone - period * rng.randint(0, back), tick + period), *row)))
    return made


def random_script(rng: random.Random, spec: SlidingWindowSpec, rows: list[tuple[int, Row]]) -> Script:
    """The rows in another order, ticks closed when no row of them is to come, and restarts."""
    late = rng.choice([0, 3, 1000]) * spec.period
    shuffled = sorted(rows, key=lambda row: row[0] + rng.uniform(0, late))
    if rng.random() < 0.2:
        rng.shuffle(shuffled)
    script: Script = []
    for place, (tick, row) in enumerate(shuffled):
        script.append(("take", tick, row))
        if rng.random() < 0.2:
            script.append(("restart",))
        rest = min((tick for tick, _ in shuffled[place + 1 :]), default=tick + 1)
        if rng.random() < 0.4:
            script.append(("close", rest - rng.choice([1, 1, 2, 9])))
    end = max((tick for tick, _ in rows), default=0)
    last = max((stay(spec, *row).stop for row in rows), default=spec.period)
    script.append(("close", end + rng.randrange(2 * spec.period)))
    script.append(("restart",))
    script.append(("close", rng.choice([end + spec.period, last - spec.period, last, last + 10**6 * spec.period])))
    return script


def stay(spec: SlidingWindowSpec, tick: int, row: Row) -> range:
    """The windows that hold a row."""
    if spec.copies is not None:
        return range(tick, tick + spec.copies * spec.period, spec.period)
    assert isinstance(row[0], int)
    return range(tick, row[0], spec.period)


def reference(spec: SlidingWindowSpec, kinds: list[Type], rows: list[Row]) -> Row:
    """The values of a window, as the reference engine has them."""
    schema = Schema(tuple(Attribute(f"a{place}", kind) for place, kind in enumerate(kinds)))
    tidied = [tuple(coerce_value(cell, kind) for cell, kind in zip(row, kinds)) for row in rows]
    values = []
    for asked in spec.aggregates:
        function = AggregateFunction(asked.function.upper())
        argument = None if asked.argument is None else Column(list(schema)[asked.argument])
        result = function.result(argument.type if argument else Type.INTEGER)
        assert result is not None
        values.append(aggregate(Aggregate(function, argument, Attribute("v", result)), schema, tidied))
    return tuple(values)


def expected(spec: SlidingWindowSpec, kinds: list[Type], script: Script) -> Iterator[Any]:
    """What a script should be answered with: windows by their definition, from all rows there ever were."""
    windows: dict[int, list[Row]] = {}
    values: dict[int, Row] = {}
    stays: set[range] = set()
    closed = -(10**18)
    for word, *rest in script:
        if word == "take":
            stays.add(stay(spec, *rest))
            for tick in stay(spec, *rest):
                windows.setdefault(tick, []).append(rest[1] if spec.copies else rest[1][1:])
        before, closed = closed, max(closed, rest[0]) if word == "close" else closed
        coming = [tick for tick in windows if tick > closed]
        if word == "close":
            out = sorted(tick for tick in windows if before < tick <= closed)
            values = {tick: reference(spec, kinds, windows[tick]) for tick in out}
            window = (closed // spec.period + 1) * spec.period
            held = sum(pane.stop > window for pane in stays)
            yield [(tick, values[tick]) for tick in out], min(coming, default=None), held
        elif word == "restart":
            yield not coming


def cases() -> Iterator[tuple[SlidingWindowSpec, list[Type], Script]]:
    """Specifications with the types of their values and scripts: rows equally long, windows over time, any ends."""
    for seed in range(CASES):
        rng = random.Random(seed)
        spec, kinds = random_spec(rng)
        yield spec, kinds, random_script(rng, spec, random_rows(rng, spec, kinds))
    for seed in range(CASES_OF_TIMES + CASES_OF_ENDS):
        rng = random.Random(CASES + seed)
        spec, kinds = random_spec(rng)
        if seed < CASES_OF_TIMES:
            times = TIMES[seed % len(TIMES)]
            rows = with_ends(random_rows(rng, SlidingWindowSpec(1, 1, ()), kinds), times)
            spec = SlidingWindowSpec(None, times[2], spec.aggregates)
        else:
            rows = with_any_ends(rng, random_rows(rng, spec, kinds), spec.period, 0)
            spec = SlidingWindowSpec(None, spec.period, spec.aggregates)
        yield spec, kinds, random_script(rng, spec, rows)
