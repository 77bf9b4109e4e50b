"""Windows of CQL, after Secs. 2 and 3.2 of the document: for each key, the instants and what each window holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.holdout.cql.space import Place, Region, step
from tests.holdout.sql import Row

CLOSE = 1000
"""Micrometres: a distance on the earth that is closer to a bound is not asked about."""


class Undecided(Exception):
    """The answer hangs on the last digits of a distance, on a tie or on a known difference: draw another question."""


@dataclass(frozen=True)
class Tuple:
    """An element <s, g, t> of a stream; `way` is the length of the path of its object up to it."""

    tick: int
    row: Row
    place: Place | None
    way: int = 0


@dataclass(frozen=True)
class Held:
    """One window: its instant and its tuples in order of time; one of a forgotten key is no window but its end."""

    tick: int
    tuples: list[Tuple]
    ends: bool = False


@dataclass(frozen=True)
class Spec:
    """A window, by its kind and its numbers; lengths are micrometres, times are ticks."""

    kind: str
    text: str
    range: int = 0
    slide: int = 0
    region: Region | None = None
    by_key: bool = False
    keys: tuple[int, ...] = (0,)
    grows: bool = False
    """Whether RStream speaks only when a row was added (C5)."""


def with_ways(tuples: Iterable[Tuple], earth: bool) -> list[Tuple]:
    """Each tuple with d = sum |g_i - g_(i-1)| (C11); a tuple without a place moves nothing."""
    found: list[Tuple] = []
    way, last = 0, None
    for one in tuples:
        if one.place is not None:
            if last is not None:
                way += step(last, one.place, earth)
            last = one.place
        found.append(Tuple(one.tick, one.row, one.place, way))
    return found


def lineage(spec: Spec, tuples: list[Tuple], start: int, until: int, earth: bool, forget: int | None) -> list[Held]:
    """The windows of one key; silent for more than `forget` ticks, it is forgotten and begins anew."""
    if forget is None or not spec.by_key:
        return windows(spec, tuples, start, until, earth)
    found: list[Held] = []
    rest = [one for one in tuples if one.tick <= until]
    while rest:
        count = next((n for n in range(1, len(rest)) if rest[n].tick - rest[n - 1].tick > forget + 1), len(rest))
        end = rest[count - 1].tick + forget + 1
        forgotten = end <= until
        found += windows(spec, rest[:count], start, end - 1 if forgotten else until, earth)
        if forgotten:
            found.append(Held(end, [], ends=True))
        rest = rest[count:]
    return found


def windows(spec: Spec, tuples: list[Tuple], start: int, until: int, earth: bool) -> list[Held]:
    """The windows of one key from its first tuple on."""
    tuples = with_ways([one for one in tuples if one.tick <= until], earth)
    begin = tuples[0].tick if spec.by_key else start
    arrivals = sorted({one.tick for one in tuples})
    slides = [t for t in range(0, until + 1, max(spec.slide, 1)) if t >= begin]

    def seen(t: int) -> list[Tuple]:
        return [one for one in tuples if one.tick <= t]

    def inside(one: Tuple) -> bool:
        return one.place is not None and spec.region is not None and spec.region.covers(one.place)

    match spec.kind:
        case "time":
            return _at(slides, lambda t: [one for one in seen(t) if one.tick >= t - spec.range])
        case "rows":
            return _at(arrivals, lambda t: seen(t)[-spec.range :])
        case "rows slide":
            marks = _growing(arrivals, lambda t: len(seen(t)) // spec.slide, 0)
            return [Held(t, tuples[: mark * spec.slide][-spec.range :]) for t, mark in marks]
        case "unbounded":
            return _at(arrivals, seen)
        case "region":
            return _at(sorted({one.tick for one in tuples if inside(one)}), lambda t: list(filter(inside, seen(t))))
        case "region time":
            return _at(slides, lambda t: list(filter(inside, seen(t))))
        case "region space":
            marks = _growing(arrivals, lambda t: _mark(seen(t)[-1].way, spec.slide, earth), -1)
            return [Held(t, list(filter(inside, seen(t)))) for t, _ in marks]
        case "region range":
            came = {one.tick for one in tuples if inside(one)}
            went = {one.tick + spec.range + 1 for one in tuples if inside(one)}
            return _at(
                [t for t in sorted(came | went) if t <= until],
                lambda t: [one for one in seen(t) if inside(one) and one.tick >= t - spec.range],
            )
        case "space space":
            marks = _growing(arrivals, lambda t: _mark(seen(t)[-1].way, spec.slide, earth), -1)
            return [
                Held(t, [one for one in seen(t) if _between(one.way, mark * spec.slide, spec.range, earth)])
                for t, mark in marks
            ]
        case "space time":
            return _at(
                slides,
                lambda t: [one for one in seen(t) if _between(one.way, seen(t)[-1].way, spec.range, earth)],
            )
        case "time space":
            marks = _growing(arrivals, lambda t: _mark(seen(t)[-1].way, spec.slide, earth), -1)
            return [Held(t, [one for one in seen(t) if one.tick >= t - spec.range]) for t, _ in marks]
        case _:
            raise AssertionError(spec.kind)


def _at(instants: Iterable[int], content: Callable[[int], list[Tuple]]) -> list[Held]:
    return [Held(t, content(t)) for t in instants]


def _growing(arrivals: list[int], mark: Callable[[int], int], before: int) -> list[tuple[int, int]]:
    """The instants at which a mark is passed, each with the last mark."""
    found = []
    for t in arrivals:
        if mark(t) > before:
            before = mark(t)
            found.append((t, before))
    return found


def _mark(way: int, slide: int, earth: bool) -> int:
    rest = way % slide
    if earth and way and min(rest, slide - rest) < CLOSE:
        raise Undecided
    return way // slide


def _between(way: int, high: int, length: int, earth: bool) -> bool:
    low = max(high - length, 0)
    if earth and way and (abs(way - low) < CLOSE or 0 < abs(way - high) < CLOSE):
        raise Undecided
    return low <= way <= high
