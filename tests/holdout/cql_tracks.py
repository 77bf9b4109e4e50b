"""Functions on places for DuckDB, and aggregates over the way of an object (C7, C26, C30)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

from tests.holdout.cql_meaning import Measure
from tests.holdout.cql_space import KM, MICRO, Region, has_place, heading, step
from tests.holdout.cql_streams import EARTH, PLANE
from tests.holdout.cql_windows import Spec, Tuple, Undecided
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


def measure(names: list[str], window: Spec, earth: bool, seconds: int, least: int | None, load: int) -> Measure:
    """The row of aggregates of a window, or None where a speed has no answer."""

    def answer(tuples: list[Tuple]) -> Row | None:
        kept = [one for one in tuples if least is None or (one.row[load] is not None and one.row[load] > least)]
        if window.by_key and not kept:
            return None
        places = [one.place for one in kept if one.place is not None]
        way = sum(step(a, b, earth) for a, b in pairwise(places))
        by_range = window.kind in ("time", "time space")
        lasted = window.range if by_range else (kept[-1].tick - kept[0].tick if kept else 0)
        values: list[object] = []
        for name in names:
            match name:
                case "AvgSpd(c)":
                    if not kept or lasted == 0:
                        return None
                    values.append(way / KM / (lasted * seconds / 3600))
                case "PATHLENGTH(c)":
                    if not kept:
                        raise Undecided  # see test_known_differences.py
                    values.append(way / MICRO)
                case "COUNT(*)":
                    values.append(len(kept))
                case _:
                    values.append(kept[0].row[0])
        return tuple(values)

    return answer
