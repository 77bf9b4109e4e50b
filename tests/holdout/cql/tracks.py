"""Functions on places for DuckDB, and aggregates over the way of an object (C7, C26, C30)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

from tests.holdout.cql.space import KM, MICRO, Region, has_place, heading, step
from tests.holdout.cql.streams import EARTH, PLANE
from tests.holdout.cql.windows import Spec, Tuple, Undecided
from tests.holdout.sql import Row, connection


@cache
def register() -> None:
    """Give DuckDB the functions; NULL in is NULL out."""
    for name, earth in (("plane", False), ("earth", True)):
        _function(f"distance_{name}", partial(_distance, earth), 4, "DOUBLE")
        _function(f"heading_{name}", partial(_heading, earth), 4, "DOUBLE")
    for region in (*PLANE, *EARTH.values()):
        _function(f"inside_{region.name}", partial(_inside, region), 2, "BOOLEAN")


def _function(name: str, function: Callable[..., Any], arity: int, result: str) -> None:
    if arity == 2:

        def given(x: float | None, y: float | None) -> Any:
            return function(x, y)

        connection().create_function(name, given, ["DOUBLE"] * 2, result, null_handling="special")
    else:

        def pair(ax: float | None, ay: float | None, bx: float | None, by: float | None) -> Any:
            return function((ax, ay), (bx, by))

        connection().create_function(name, pair, ["DOUBLE"] * 4, result, null_handling="special")


def _distance(earth: bool, a: Any, b: Any) -> float | None:
    return step(a, b, earth) / MICRO if has_place(a, earth) and has_place(b, earth) else None


def _heading(earth: bool, a: Any, b: Any) -> float | None:
    return heading(a, b, earth) if has_place(a, earth) and has_place(b, earth) else None


def _inside(region: Region, x: float | None, y: float | None) -> bool | None:
    return None if x is None or y is None else region.covers((x, y))


@dataclass(frozen=True)
class Aggregates:
    """Aggregates of the way of the rows of a window whose load is above `least`."""

    names: list[str]
    window: Spec
    earth: bool
    seconds: int
    least: int | None
    load: int
    grouped: bool = False

    def __call__(self, tuples: list[Tuple]) -> list[Row]:
        """One row per group, or one of the window; none where a speed has no answer."""
        kept = [one for one in tuples if self._keeps(one)]
        if not self.grouped:
            row = None if self.window.by_key and not kept else self._row(kept)
            return [] if row is None else [row]
        groups: dict[Any, list[Tuple]] = {}
        for one in kept:
            groups.setdefault(one.row[self.load], []).append(one)
        rows = [self._row(group) for group in groups.values()]
        return [row for row in rows if row is not None]

    def _keeps(self, one: Tuple) -> bool:
        load = one.row[self.load]
        return self.least is None or (load is not None and load > self.least)

    def _row(self, kept: list[Tuple]) -> Row | None:
        places = [one.place for one in kept if one.place is not None]
        way = sum(step(a, b, self.earth) for a, b in pairwise(places))
        by_range = self.window.kind in ("time", "time space") and not self.grouped
        lasted = self.window.range if by_range else (kept[-1].tick - kept[0].tick if kept else 0)
        values: list[object] = []
        for name in self.names:
            match name:
                case "AvgSpd(c)":
                    if not kept or lasted == 0:
                        return None
                    values.append(way / KM / (lasted * self.seconds / 3600))
                case "PATHLENGTH(c)":
                    if not kept:
                        raise Undecided  # see test_known_differences.py
                    values.append(way / MICRO)
                case "PLACE(c)":
                    values.append(places[-1] if places else None)
                case "COUNT(*)":
                    values.append(len(kept))
                case "c.load":
                    values.append(kept[0].row[self.load])
                case _:
                    values.append(kept[0].row[0])
        return tuple(values)
