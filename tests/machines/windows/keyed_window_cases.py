"""Cases for lineages: windows of every kind, over objects that stand, turn back, jump and report twice in a tick."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.machines.windows.distance import PositionSpec
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec, RangeSpec
from transom.model.bag import Row
from transom.model.types import Value

KINDS = (
    "space/space",
    "space/time",
    "time/space",
    "time/time",
    "rows",
    "rows slide",
    "region",
    "region slide time",
    "region slide space",
    "region time",
    "region time slide",
    "unbounded",
    "time and space",
)
"""Every row of the table of windows that CQL needs, C27 and C28, and two ranges together."""

X, Y, FLAG, WHOLE, FLOAT, TEXT = range(6)
"""What a row holds: a place, a flag, and values."""


class Case(NamedTuple):
    """A kind, a specification, rows of a key in order, and what is done between them."""

    kind: str
    spec: KeyedWindowSpec
    rows: list[tuple[int, Row]]
    script: list[tuple[Any, ...]]


def spec_of(rng: random.Random, kind: str) -> KeyedWindowSpec:
    """A window of a kind, with small numbers; a unit of length is a micrometre."""
    step, wide, age = rng.randint(1, 6), rng.choice([0, 1, 3, 5, 8, 12, 10**6]), rng.choice([0, 1, 2, 4, 9, 10**6])
    count, several = rng.randint(1, 5), rng.randint(1, 4)
    far = RangeSpec("distance", (1, -wide), (1, 0))
    old = RangeSpec("tick", (1, -age), (1, 0))
    inside = FLAG
    slide: dict[str, Any] = {"step": step}
    match kind:
        case "space/space":
            slide |= {"slide": "distance", "ranges": (RangeSpec("distance", (step, -wide), (step, 0)),)}
        case "space/time":
            slide |= {"slide": "tick", "ranges": (far,)}
        case "time/space":
            slide |= {"slide": "distance", "ranges": (old,)}
        case "time/time":
            slide |= {"slide": "tick", "ranges": (RangeSpec("tick", (step, -age), (step, rng.choice([0, 0, -1, -3]))),)}
        case "rows":
            slide = {"slide": "arrival", "ranges": (RangeSpec("index", (1, 1 - count), (1, 0)),)}
        case "rows slide":
            rows = RangeSpec("index", (several, 1 - count), (several, 0))
            slide = {"slide": "index", "step": several, "first": several, "ranges": (rows,)}
        case "region":
            slide = {"slide": "inside", "flag": inside}
        case "region slide time":
            slide |= {"slide": "tick", "flag": inside}
        case "region slide space":
            slide |= {"slide": "distance", "flag": inside}
        case "region time":
            slide = {"slide": "change", "flag": inside, "ranges": (old,)}
        case "region time slide":
            slide |= {"slide": rng.choice(["tick", "distance"]), "flag": inside, "ranges": (old,)}
        case "unbounded":
            slide = {"slide": "arrival"}
        case _:
            slide |= {"slide": rng.choice(["tick", "distance", "arrival"]), "ranges": (old, far)}
    if rng.random() < 0.25:
        slide.setdefault("flag", FLAG)
    eager = rng.random() < 0.15
    forget = None if eager or rng.random() < 0.7 else rng.choice([0, 1, 3, 7])
    until = rng.choice([None, None, None, 7, 20])
    spec = KeyedWindowSpec(
        **slide, until=until, start=rng.choice([0, 0, 2]), eager=eager, forget_after=forget, position=place(rng)
    )
    return told(rng, spec)


def place(rng: random.Random) -> PositionSpec:
    """Where a row is: on a line or on the plane in micrometres; now and then on the ellipsoid."""
    limit = None if rng.random() < 0.7 else rng.choice([(1, 1), (3, 1), (5, 2), (1, 3)])
    if rng.random() < 0.03:
        return PositionSpec(X, Y, True, 1, limit)
    return PositionSpec(X, rng.choice([None, Y]), False, rng.choice([1, 1, 1, 3]), limit)


def told(rng: random.Random, spec: KeyedWindowSpec) -> KeyedWindowSpec:
    """The same windows with something that is told of them."""
    tags = tuple(rng.sample(["tick", "index", "distance"], rng.choice([0, 0, 1, 3])))
    output = rng.choice(["content", "changes", "aggregates", "aggregates"])
    fields = {name: getattr(spec, name) for name in KeyedWindowSpec.__dataclass_fields__}
    found: tuple[SlidingAggregateSpec, ...] = ()
    if output == "aggregates":
        choices = [("count", "integer", None), ("path", "integer", None), ("path", "integer", None)]
        for where, kind in ((WHOLE, "integer"), (FLOAT, "float"), (TEXT, "string")):
            numbers = () if kind == "string" else ("sum", "avg")
            choices += [(name, kind, where) for name in ("count", "min", "max", "first", "last", *numbers)]
        choices += [(name, "integer", 6 + at) for at, _ in enumerate(tags) for name in ("first", "last", "max")]
        found = tuple(SlidingAggregateSpec(*rng.choice(choices)) for _ in range(rng.randint(1, 4)))
    return KeyedWindowSpec(**{**fields, "tags": tags, "output": output, "aggregates": found})


def values(rng: random.Random) -> Row:
    whole = rng.choice([None, 0, 1, -1, 5, 2**53 + 1, rng.randint(-99, 99)])
    size = rng.choice([None, 0.1, 0.2, -0.3, -0.0, 1e15, 7.25, rng.randint(-99, 99) / 8])
    return whole, size, rng.choice([None, "a", "b", "é"])


def journey(rng: random.Random) -> list[tuple[int, Row]]:
    """Rows of an object in order: it stands, moves, turns back, jumps over marks, and sometimes has no place."""
    tick, x, y = rng.choice([0, 0, 1, 3, 6]), rng.randint(-5, 5), rng.randint(-5, 5)
    rows: list[tuple[int, Row]] = []
    for _ in range(rng.choice([0, 1, 3, 6, 10, 14, 14, 25])):
        here: tuple[Value, Value] = (x, y) if rng.random() < 0.5 else (float(x), float(y))
        if rng.random() < 0.07:
            here = rng.choice([(None, y), (x, None), (None, None)])
        rows.append((tick, (*here, rng.choice([True, True, False, None]), *values(rng))))
        tick += rng.choice([0, 0, 1, 1, 1, 2, 4, 9])
        if rng.random() < 0.7:
            x += rng.choice([1, 1, 2, 3, -1, -3, 8, 30])
        if rng.random() < 0.3:
            y += rng.choice([1, 2, -2, 4])
    return rows


def script_of(rng: random.Random, rows: list[tuple[int, Row]]) -> list[tuple[Any, ...]]:
    """The rows tick by tick, ticks closed in between, and restarts between any two."""
    script: list[tuple[Any, ...]] = []
    restarts = rng.choice([0.0, 0.3, 1.0])
    by_tick: dict[int, list[Row]] = {}
    for tick, row in rows:
        by_tick.setdefault(tick, []).append(row)
    for tick, found in by_tick.items():
        if rng.random() < 0.4:
            script.append(("close", tick - rng.choice([1, 1, 2, 5])))
        script.append(("take", tick, found))
        if rng.random() < restarts:
            script.append(("restart",))
    last = rows[-1][0] if rows else 5
    script.append(("close", last + rng.choice([0, 1, 4, 15])))
    return script


def cases(name: str, count: int) -> Iterator[Case]:
    """So many cases, each kind equally often."""
    for seed in range(count):
        rng = random.Random(f"{name} {seed}")
        kind = KINDS[seed % len(KINDS)]
        spec, rows = spec_of(rng, kind), journey(rng)
        yield Case(kind, spec, rows, script_of(rng, rows))
