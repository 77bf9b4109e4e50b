"""Random inputs that lie on, just before and just after the bounds of a query's windows."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from .question import Converter, Item, Query, Scan, StreamQuery, Value, Window, subqueries

Schema = dict[str, dict[str, Any]]
Inputs = dict[str, list[list[Any]]]
Pools = dict[str, list[tuple[Value, ...]]]


def items_of(query: Query) -> Iterator[Item]:
    """Every from-item, at any depth."""
    for inner in subqueries(query):
        if isinstance(inner, StreamQuery):
            yield inner.item
        elif not isinstance(inner, Converter):
            yield from inner.items


def boundaries(query: Query, horizon: int) -> list[int]:
    """The ticks at which a time window or a scan fires."""
    found: set[int] = set()
    for item in items_of(query):
        if isinstance(item.window, Scan):
            found.update(range(0, horizon + 1, item.window.ticks))
        elif isinstance(item.window, Window) and not item.window.rows:
            found.update(range(0, horizon + 1, item.window.slide * item.window.scale))
    return sorted(found)


def telling_ticks(query: Query, horizon: int) -> list[int]:
    """Ticks on a window bound, and their neighbours."""
    found: set[int] = set()
    for item in items_of(query):
        window = item.window
        if isinstance(window, Scan):
            for base in range(0, horizon + 1, window.ticks):
                found.update((base - 1, base, base + 1))
        elif isinstance(window, Window) and not window.rows:
            for base in range(0, horizon + 1, window.slide * window.scale):
                for bound in (base - window.since * window.scale, base - window.upto * window.scale, base):
                    found.update((bound - 1, bound, bound + 1))
    return sorted(tick for tick in found if 0 <= tick <= horizon)


class Filler:
    """A source of random rows for the extents of one query."""

    def __init__(self, rng: Random, query: Query, horizon: int, base: int, cap: int) -> None:
        """Rows for a query that runs up to a horizon; at most `cap` rows in a stream."""
        self.rng = rng
        self.horizon = horizon
        self.base = base
        self.cap = cap
        self.telling = telling_ticks(query, horizon)

    def fill(self, schema: Schema, pools: Pools) -> Inputs:
        """Rows for every extent, with the values of these pools."""
        return {name: self._extent(extent, pools[name]) for name, extent in schema.items()}

    def _extent(self, extent: dict[str, Any], pools: list[tuple[Value, ...]]) -> list[list[Any]]:
        columns = [(list(pool), self.rng.choice((0.0, 0.0, 0.0, 0.15, 0.4))) for pool in pools]
        if extent["kind"] == "stored":
            return self._versions(columns)
        if extent["kind"] == "sensed":
            return self._readings(extent, columns)
        return self._arrivals(columns)

    def _row(self, columns: list[tuple[list[Any], float]]) -> list[Any]:
        return [None if self.rng.random() < nulls else self.rng.choice(values) for values, nulls in columns]

    def _tick(self) -> int:
        """A tick, most often a telling one."""
        if self.telling and self.rng.random() < 0.7:
            return self.rng.choice(self.telling)
        if self.rng.random() < 0.5:
            near = self.rng.randrange(self.horizon // self.base + 1) * self.base
            return max(0, near + self.rng.choice((-1, 0, 0, 1)))
        return self.rng.randint(0, self.horizon)

    def _arrivals(self, columns: list[tuple[list[Any], float]]) -> list[list[Any]]:
        """Rows of a pushed extent: bursts, silence, sometimes nothing at all."""
        count = 0 if self.rng.random() < 0.05 else max(self.rng.randint(1, self.cap) for _ in range(3))
        ticks: list[int] = []
        for _ in range(count):
            burst = ticks and self.rng.random() < 0.3
            ticks.append(self.rng.choice(ticks) if burst else self._tick())
        return [[tick, index, *self._row(columns)] for index, tick in enumerate(sorted(ticks), 1)]

    def _readings(self, extent: dict[str, Any], columns: list[tuple[list[Any], float]]) -> list[list[Any]]:
        """Rows of a sensed extent: one per site and interval, some missing; site is the first column."""
        missing = self.rng.choice((0.0, 0.0, 0.15, 0.5))
        rows: list[list[Any]] = []
        if self.rng.random() < 0.04:
            return rows
        for tick in range(0, self.horizon + 1, extent["interval"]):
            for site in extent["sites"]:
                if len(rows) < self.cap and self.rng.random() >= missing:
                    rows.append([tick, len(rows) + 1, site, *self._row(columns[1:])])
        return rows

    def _versions(self, columns: list[tuple[list[Any], float]]) -> list[list[Any]]:
        """Versions of a stored extent, some of them empty; the first one may come late."""
        if self.rng.random() < 0.04:
            return []
        ticks = {0} if self.rng.random() < 0.85 else set()
        for _ in range(self.rng.choice((0, 1, 2, 2, 3))):
            ticks.add(self._tick())
        versions: list[list[Any]] = []
        for tick in sorted(ticks):
            count = 0 if self.rng.random() < 0.12 else self.rng.randint(1, 4)
            versions.append([tick, [self._row(columns) for _ in range(count)]])
        return versions


def last_tick(rng: Random, query: Query, inputs: Inputs, horizon: int) -> int:
    """The last tick of the question: on a boundary, beside one, on the last row, or anywhere."""
    upper = [tick for tick in boundaries(query, horizon) if tick >= horizon // 2]
    final: list[int] = [rows[-1][0] for rows in inputs.values() if rows]
    shape = rng.choices(("on", "before", "after", "row", "end"), (32, 22, 10, 16, 20))[0]
    if shape == "row" and final:
        return max(0, max(final) - rng.choice((0, 0, 1)))
    if upper and shape in ("on", "before", "after"):
        return max(0, rng.choice(upper) + {"on": 0, "before": -1, "after": 1}[shape])
    return horizon
