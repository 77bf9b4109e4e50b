"""Answers from the definitions: formulas for R(t) of every window, and relations as lists; nothing of transom.

A window stream is, for every key, what R is at the instants at which the key is evaluated. Distances are whole
micrometres: the way from the first place of a key (C11, E9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np

from tests.oracle_cql.question import METRE, Condition, Question, Row, Side, Win

Tuples = list[tuple[Any, ...]]
Lineage = list[tuple[int, list[Row]]]
"""The instants of a key, each with what the window holds from then on."""


def answer(q: Question) -> Counter[tuple[Any, ...]]:
    """The bag of (t, values) that a question gives."""
    left = relation(q.left)
    if q.right is not None:
        right = relation(q.right)
        instants = sorted({t for lineage in (*left, *right) for t, _ in lineage})
        combined = [(t, together(q, at(left, t), at(right, t))) for t in instants if t <= q.until]
        streams = [[(t, select_pairs(q, rows)) for t, rows in combined]]
    else:
        if q.convert == "R" and q.left.window.kind in ("region", "unbounded"):
            left = [grown(lineage) for lineage in left]
        streams = [[(t, select(q, rows)) for t, rows in lineage if t <= q.until] for lineage in left]
    found: Counter[tuple[Any, ...]] = Counter()
    for stream in streams:
        before: Counter[tuple[Any, ...]] = Counter()
        for t, rows in stream:
            now = Counter(rows)
            given = {"R": now, "I": now - before, "D": before - now}[q.convert]
            found.update({(t, *row): n for row, n in given.items()})
            before = now
    return found


def grown(lineage: Lineage) -> Lineage:
    """RStream speaks only when a tuple was added to what the condition lets through (C5)."""
    sizes = [0, *(len(rows) for _, rows in lineage)]
    return [event for event, before, now in zip(lineage, sizes, sizes[1:], strict=False) if now > before]


def relation(side: Side) -> list[Lineage]:
    """The lineages of a window, with the condition on every tuple (WHERE is after the window)."""
    keys = list(dict.fromkeys(row.id for row in side.rows)) if side.window.by_id else [None]
    found: list[Lineage] = []
    for key in keys:
        own = [row for row in side.rows if key in (None, row.id)]
        lineage = WINDOWS[side.window.kind](own, way(own), side.window)
        found.append([(t, [row for row in rows if passes(side.condition, row)]) for t, rows in lineage])
    return found


def at(lineages: list[Lineage], t: int) -> list[Row]:
    """R(t): the last content of every key, nothing before its first (C16)."""
    return [row for lineage in lineages for row in next((rows for i, rows in reversed(lineage) if i <= t), [])]


def way(rows: list[Row]) -> list[int]:
    """The distance of each row of one key: the sum of its steps, each in whole micrometres, halves to even."""
    placed = np.array([row.place for row in rows if row.place is not None], dtype=float).reshape(-1, 2)
    steps = np.rint(np.sqrt((np.diff(placed, axis=0) ** 2).sum(axis=1)) * METRE).astype(int)
    sums = iter([0, *np.cumsum(steps).tolist()])
    found, last = [], 0
    for row in rows:
        last = next(sums) if row.place is not None else last
        found.append(last)
    return found


def in_zone(zone: str, row: Row) -> bool:
    """Whether a row is inside a region: conditions on its coordinates, the border included."""
    if row.place is None:
        return False
    x, y = row.place
    match zone:
        case "square":
            return 0 <= x <= 6 and 0 <= y <= 6
        case "triangle":
            return x >= 0 and y >= 0 and Fraction(x) + Fraction(y) <= 9
        case _:
            return (0 <= x <= 8 and 0 <= y <= 3) or (0 <= x <= 3 and 0 <= y <= 8)


def passes(condition: Condition | None, row: Row) -> bool:
    """Whether a row meets the condition; a missing value meets none."""
    if condition is None:
        return True
    match condition.what:
        case "v":
            return row.v is not None and row.v > int(condition.value)
        case "zone":
            return in_zone(str(condition.value), row)
        case "id":
            return row.id == condition.value
        case _:
            return row.t >= int(condition.value)


# --- windows: when a key is evaluated, and what it holds then -----------------------------------------

END = 40
"""No question goes on beyond this tick."""


def slid(rows: list[Row], w: Win) -> Iterable[int]:
    """The ticks 0, s, 2s, ...; of a key from its first row on (C14)."""
    born = min((row.t for row in rows), default=0) if w.by_id else 0
    return (t for t in range(0, END, w.slide) if t >= born)


def instants(rows: list[Row]) -> list[int]:
    return sorted({row.t for row in rows})


def by_time(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """thigh = floor(t / s) * s, tlow = max(thigh - r, 0) (C1)."""
    found = []
    for t in slid(rows, w):
        high = t // w.slide * w.slide
        low = max(high - w.range, 0)
        found.append((t, [row for row in rows if low <= row.t <= high]))
    return found


def by_rows(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """The last n rows by arrival, at the instants at which a multiple of the slide is passed (C18)."""
    found, before = [], 0
    for t in instants(rows):
        count = sum(row.t <= t for row in rows)
        mark = count // w.slide * w.slide
        if mark > before:
            found.append((t, rows[max(mark - w.range, 0) : mark]))
            before = mark
    return found


def by_everything(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """All that came, at every arrival."""
    return [(t, [row for row in rows if row.t <= t]) for t in instants(rows)]


def by_region(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """{(tp, g, t) : g inside region}, new at every instant with a tuple inside (C5)."""
    inside = [row for row in rows if in_zone(w.zone, row)]
    return [(t, [row for row in inside if row.t <= t]) for t in instants(inside)]


def by_region_every_ticks(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """Inside so far, at the boundaries of time (C27)."""
    return [(t, [row for row in rows if row.t <= t and in_zone(w.zone, row)]) for t in slid(rows, w)]


def by_region_every_way(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """Inside so far, at the boundaries of the way (C27)."""
    return [(t, [row for row in rows if row.t <= t and in_zone(w.zone, row)]) for t, _ in marks(rows, d, w)]


def by_region_and_time(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """Inside and not older than r, whenever a tuple comes in or grows too old (C28)."""
    inside = [row for row in rows if in_zone(w.zone, row)]
    turns = sorted({row.t for row in inside} | {row.t + w.range + 1 for row in inside})
    return [(t, [row for row in inside if t - w.range <= row.t <= t]) for t in turns]


def by_region_and_time_every_ticks(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """Inside and not older than r, at the boundaries of time (C27, C28)."""
    return [(t, [r for r in rows if in_zone(w.zone, r) and t - w.range <= r.t <= t]) for t in slid(rows, w)]


def marks(rows: list[Row], d: list[int], w: Win) -> list[tuple[int, int]]:
    """The instants at which floor(d / slide) grows, the first row among them, with dhigh (C6, C12)."""
    found, before = [], -1
    for t in instants(rows):
        dt = max(own for own, row in zip(d, rows, strict=True) if row.t <= t)
        if dt // (w.slide * METRE) > before:
            before = dt // (w.slide * METRE)
            found.append((t, before * w.slide * METRE))
    return found


def by_way(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """dlow <= d <= dhigh = floor(dt / s) * s, of the tuples that had come (C12, C13)."""
    return [
        (t, [row for own, row in zip(d, rows, strict=True) if row.t <= t and high - w.range * METRE <= own <= high])
        for t, high in marks(rows, d, w)
    ]


def by_way_every_ticks(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """[d(t) - r, d(t)] at t = k * s (C15)."""
    found: Lineage = []
    for t in slid(rows, w):
        seen = [(own, row) for own, row in zip(d, rows, strict=True) if row.t <= t]
        high = max((own for own, _ in seen), default=0)
        found.append((t, [row for own, row in seen if high - w.range * METRE <= own]))
    return found


def by_time_every_way(rows: list[Row], d: list[int], w: Win) -> Lineage:
    """[t - r, t] at the instants at which a mark is passed (C15)."""
    return [(t, [row for row in rows if t - w.range <= row.t <= t]) for t, _ in marks(rows, d, w)]


WINDOWS: dict[str, Callable[[list[Row], list[int], Win], Lineage]] = {
    "time": by_time,
    "rows": by_rows,
    "unbounded": by_everything,
    "region": by_region,
    "region every ticks": by_region_every_ticks,
    "region every way": by_region_every_way,
    "region and time": by_region_and_time,
    "region and time every ticks": by_region_and_time_every_ticks,
    "way every way": by_way,
    "way every ticks": by_way_every_ticks,
    "time every way": by_time_every_way,
}


# --- what is asked of the rows -------------------------------------------------------------------------


def select(q: Question, rows: list[Row]) -> Tuples:
    """The select list over one relation."""
    match q.select:
        case "values":
            return [(row.id, row.v) for row in rows]
        case "stamps":
            return [(row.place, row.t) for row in rows]
        case "count":
            values = [row.v for row in rows if row.v is not None]
            return [(len(rows), sum(values) if values else None)]
        case "groups":
            return grouped([(row.id,) for row in rows])
        case "distinct":
            return sorted({(row.id, row.v) for row in rows}, key=repr)
        case "speed":
            span = q.left.window.range if q.left.window.kind in ("time", "time every way") else None
            own = sorted(rows, key=lambda row: row.t)
            duration = span or (own[-1].t - own[0].t if own else 0)
            return [(round(path(own) * 36 / (duration * 10 * METRE), 9),)] if own and duration else []
        case _:
            return [(round(path(sorted(rows, key=lambda row: row.t)) / METRE, 9) if rows else None,)]


def path(rows: list[Row]) -> int:
    """The way through some rows in micrometres."""
    return max(way(rows), default=0)


def grouped(keys: Tuples) -> Tuples:
    return [(*key, len(list(own))) for key, own in groupby(sorted(keys))]


def together(q: Question, left: list[Row], right: list[Row]) -> Tuples:
    """What two relations give at an instant, as pairs of rows or as rows of one."""
    pairs = [(a, b) for a in left for b in right if a.id == b.id and a.v is not None and b.v is not None and a.v <= b.v]
    ours, theirs = [(row.id, row.v) for row in left], [(row.id, row.v) for row in right]
    mine, yours = Counter(ours), Counter(theirs)
    match q.together:
        case "join":
            return [(a.id, a.v, b.v) for a, b in pairs]
        case "left join":
            alone = [a for a in left if not any(a is one for one, _ in pairs)]
            return [(a.id, a.v, b.v) for a, b in pairs] + [(a.id, a.v, None) for a in alone]
        case "semi join":
            return [(a.id, a.v, 0) for a in left if any(a is one for one, _ in pairs)]
        case "anti join":
            return [(a.id, a.v, 0) for a in left if not any(a is one for one, _ in pairs)]
        case "union all":
            return ours + theirs
        case "union":
            return list(set(ours) | set(theirs))
        case "except all":
            return list((mine - yours).elements())
        case "except":
            return list(set(ours) - set(theirs))
        case "intersect all":
            return list((mine & yours).elements())
        case _:
            return list(set(ours) & set(theirs))


def select_pairs(q: Question, rows: Tuples) -> Tuples:
    """The select list over what two relations give."""
    match q.select:
        case "count":
            return [(len(rows),)]
        case "groups":
            return grouped([row[:1] for row in rows])
        case "distinct":
            return sorted(set(rows), key=repr)
        case _:
            return rows
