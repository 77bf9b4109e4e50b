"""What a lineage is by its definition: every window from all rows there ever were, quadratic and obvious."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tests.machines.windows.slide_cases import reference
from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.machines.emission import TimedEmission
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec, RangeSpec
from transom.machines.windows.slide import SlidingWindowSpec
from transom.model.bag import Row
from transom.model.geometry.space import step_length
from transom.model.types import Type, Value

TYPES = [Type.FLOAT, Type.FLOAT, Type.BOOLEAN, Type.INTEGER, Type.FLOAT, Type.STRING]


class Seen(NamedTuple):
    """An element of the stream of a key, with its three coordinates; `row` has its tags."""

    tick: int
    index: int
    distance: int
    place: tuple[float, float] | None
    inside: bool
    row: Row


class Life(NamedTuple):
    """Rows of a key from when it is new until it is forgotten."""

    seen: list[Seen]
    end: int | None


def lives(spec: KeyedWindowSpec, rows: list[tuple[int, Row]]) -> tuple[list[Life], dict[int, int]]:
    """The rows of each life, and how many rows each tick rejects."""
    found: list[list[Seen]] = [[]]
    rejected: dict[int, int] = {}
    for tick, row in rows:
        if spec.until is not None and tick > spec.until:
            continue
        if found[-1] and spec.forget_after is not None and tick > found[-1][-1].tick + spec.forget_after + 1:
            found.append([])
        seen = found[-1]
        distance = seen[-1].distance if seen else 0
        where = None
        if spec.position is not None:
            where = spec.position.coordinate_system.point(
                row[spec.position.x], 0 if spec.position.y is None else row[spec.position.y]
            )
            before = next((s for s in reversed(seen) if s.place is not None), None)
            if where is not None and before is not None and before.place is not None:
                far = step_length(spec.position.coordinate_system, before.place, where)
                most, ticks = spec.position.limit or (10**30, 1)
                if far * ticks > most * max(1, tick - before.tick):
                    rejected[tick] = rejected.get(tick, 0) + 1
                    continue
                distance += far
        inside = spec.flag is None or row[spec.flag] is True
        at = {"tick": tick, "index": len(seen) + 1, "distance": distance}
        seen.append(Seen(tick, len(seen) + 1, distance, where, inside, row + tuple(at[tag] for tag in spec.tags)))
    ends = [None if spec.forget_after is None or not seen else seen[-1].tick + spec.forget_after for seen in found]
    return [Life(seen, end) for seen, end in zip(found, ends)], rejected


def events(spec: KeyedWindowSpec, life: Life, closed: int) -> Iterator[tuple[int, int]]:
    """The ticks at which windows come, each with the boundary that is reached."""
    seen = life.seen
    last = min(tick for tick in (closed, spec.until, life.end) if tick is not None)
    begin = spec.start if spec.eager else max(spec.start, seen[0].tick) if seen else last + 1
    next_mark = spec.first
    earliest = min([begin, *(s.tick for s in seen)])
    content: list[int] = []
    for tick in range(earliest, last + 1):
        arrived = [s for s in seen if s.tick == tick]
        match spec.slide:
            case "tick":
                if tick >= begin and tick >= spec.first and (tick - spec.first) % spec.step == 0:
                    yield tick, tick
            case "arrival":
                if arrived:
                    yield tick, tick
            case "inside":
                if any(s.inside for s in arrived):
                    yield tick, tick
            case "change":
                now = [s.index for s in held(spec, life, tick, tick)]
                if now != content:
                    yield tick, tick
                content = now
            case coordinate:
                if arrived and (value := getattr(arrived[-1], coordinate)) >= next_mark:
                    mark = value - (value - spec.first) % spec.step
                    next_mark = mark + spec.step
                    yield tick, mark


def held(spec: KeyedWindowSpec, life: Life, tick: int, mark: int) -> list[Seen]:
    """What the window of a tick holds."""
    seen = [s for s in life.seen if s.tick <= tick]
    return [s for s in seen if s.inside and all(within(spec, reach, seen, s, tick, mark) for reach in spec.ranges)]


def within(spec: KeyedWindowSpec, reach: RangeSpec, seen: list[Seen], element: Seen, tick: int, mark: int) -> bool:
    """Whether an element is in a range whose base is the boundary, or the present value of another coordinate."""
    base = mark if reach.coordinate == spec.slide else tick
    if reach.coordinate != spec.slide and reach.coordinate != "tick":
        base = getattr(seen[-1], reach.coordinate)
    low, high = (base // step * step + offset for step, offset in (reach.low, reach.high))
    return low <= getattr(element, reach.coordinate) <= high


def windows(spec: KeyedWindowSpec, life: Life, closed: int) -> Iterator[TimedEmission]:
    """What is told of a life."""
    before: list[Seen] = []
    any_window = False
    for tick, mark in events(spec, life, closed):
        any_window = True
        now = held(spec, life, tick, mark)
        if spec.output == "aggregates":
            yield TimedEmission(tick, 1, True, 0, tuple(value(spec, aggregate, now) for aggregate in spec.aggregates))
            continue
        yield TimedEmission(tick, 1, False, 0, None)
        if spec.output == "content":
            yield from (TimedEmission(tick, 1, True, at, s.row) for at, s in enumerate(now, 1))
        else:
            yield from (TimedEmission(tick, 1, True, -1, s.row) for s in before if s not in now)
            yield from (TimedEmission(tick, 1, True, 1, s.row) for s in now if s not in before)
        before = now
    over = None if life.end is None else life.end + 1
    if over is not None and any_window and over <= min(closed, spec.until or closed):
        yield TimedEmission(over, 1 if spec.output == "changes" else 0, False, 0, None)
        if spec.output == "changes":
            yield from (TimedEmission(over, 1, True, -1, s.row) for s in before)


def value(spec: KeyedWindowSpec, aggregate: SlidingAggregateSpec, rows: list[Seen]) -> Value:
    """An aggregate of the rows of a window."""
    match aggregate.function:
        case "path":
            places = [s.place for s in rows if s.place is not None]
            assert spec.position is not None
            steps = (step_length(spec.position.coordinate_system, one, other) for one, other in pairwise(places))
            return sum(steps) if places else None
        case "first" | "last":
            assert aggregate.argument is not None
            return rows[0 if aggregate.function == "first" else -1].row[aggregate.argument] if rows else None
        case _:
            kinds = TYPES + [Type.INTEGER] * len(spec.tags)
            return reference(SlidingWindowSpec(1, 1, (aggregate,)), kinds, [s.row for s in rows])[0]


def expected(spec: KeyedWindowSpec, rows: list[tuple[int, Row]], closed: int) -> list[TimedEmission]:
    """All that is told when a tick is closed, by tick; rejected rows of a tick come first."""
    found, rejected = lives(spec, rows)
    told = [TimedEmission(tick, 0, False, count, None) for tick, count in rejected.items()]
    for life in found:
        told += windows(spec, life, closed)
    return sorted(told, key=lambda t: (t.tick, t.seq))


def needed(spec: KeyedWindowSpec, rows: list[tuple[int, Row]], now: int) -> int:
    """How many rows a coming window may hold, when all of a tick has been: those not below its low bound."""
    [life], _ = lives(spec, rows)
    seen = life.seen
    if not seen:
        return 0
    marks = [mark for _, mark in events(spec, life, now)]
    after = marks[-1] + spec.step if marks else spec.first
    if spec.slide == "tick":
        begin = max(now + 1, spec.start if spec.eager else max(spec.start, seen[0].tick))
        after = next(t for t in range(begin, begin + spec.step + spec.first + 1) if (t - spec.first) % spec.step == 0)
    bases = {
        "tick": now if spec.slide == "change" else seen[-1].tick + 1,
        "index": len(seen) + (spec.slide != "tick"),
        "distance": seen[-1].distance,
        spec.slide: after,
    }
    kept = 0
    for s in seen:
        lows = [bases[r.coordinate] // r.low[0] * r.low[0] + r.low[1] for r in spec.ranges]
        kept += s.inside and all(low <= getattr(s, r.coordinate) for low, r in zip(lows, spec.ranges))
    return kept
