"""Whether two answers in golden form are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

Answer = dict[str, Any]
Key = tuple[tuple[str, Any], ...]


def same(left: Answer, right: Answer) -> str | None:
    """None when the answers are equal, else the first difference in a few words."""
    for part in ("kind", "columns"):
        if left[part] != right[part]:
            return f"{part}: {left[part]} against {right[part]}"
    if left["kind"] == "tagged-tuples":
        difference = _tuples(left["rows"], right["rows"])
    elif left["kind"] == "stream":
        difference = _windows(_instants(left["rows"]), _instants(right["rows"]))
    elif left["kind"] == "windows":
        difference = _windows(left["rows"], right["rows"])
    else:
        return f"unknown kind {left['kind']}"
    if difference is None and len(left["rows"]) != len(right["rows"]):
        counts = len(left["rows"]), len(right["rows"])
        extra = max(left["rows"], right["rows"], key=len)[min(counts)]
        return f"{counts[0]} rows against {counts[1]}; the first extra one is {extra}"
    return difference


def _tuples(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> str | None:
    for number, (one, other) in enumerate(zip(left, right, strict=False), 1):
        if _key(one) != _key(other):
            return f"row {number}: {list(one)} against {list(other)}"
    return None


def _windows(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> str | None:
    for number, (one, other) in enumerate(zip(left, right, strict=False), 1):
        if _key(one[:1]) != _key(other[:1]):
            return f"window {number}: tick {one[0]} against {other[0]}"
        first = Counter(_key(row) for row in one[1])
        second = Counter(_key(row) for row in other[1])
        if first != second:
            only_left = [_values(key) for key in (first - second).elements()]
            only_right = [_values(key) for key in (second - first).elements()]
            return f"window {number} at tick {one[0]}: only left {only_left}, only right {only_right}"
    return None


def _instants(rows: Sequence[Sequence[Any]]) -> list[tuple[Any, list[Sequence[Any]]]]:
    """The rows of a stream, one bag per instant."""
    return [(tick, [row[1:] for row in group]) for tick, group in groupby(rows, key=lambda row: row[0])]


def _key(row: Sequence[Any]) -> Key:
    """A row whose values compare as numbers, strings, truth values or NULL, never across these."""
    return tuple((_family(value), tuple(value) if isinstance(value, list) else value) for value in row)


def _values(key: Key) -> list[Any]:
    return [value for _, value in key]


def _family(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__
