"""Relational algebra over small bags of rows, by DuckDB: "evaluated over each window as if it were a relation"."""

from __future__ import annotations

import atexit
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import duckdb

Row = tuple[Any, ...]

TYPES = {"integer": "BIGINT", "float": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN"}


@cache
def connection() -> Any:
    """One connection; a division by zero gives NULL, as the languages say."""
    opened = duckdb.connect()
    opened.execute("SET threads = 1")
    for setting in ("error_on_division_by_zero", "ieee_floating_point_ops"):
        with suppress(duckdb.CatalogException):  # older versions give NULL without being told
            opened.execute(f"SET {setting} = false")
    atexit.register(_close)
    return opened


def _close() -> None:
    """Let DuckDB free its functions before the interpreter ends."""
    connection().close()
    connection.cache_clear()


def literal(value: Any) -> str:
    """A value as SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            return f"{value!r}e0" if "e" not in repr(value) else repr(value)
        case _:
            return "'" + str(value).replace("'", "''") + "'"


def relation(columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> str:
    """A bag of rows as an expression of FROM; `ord` is the place of a row in the list."""
    typed = ", ".join(f'NULL::{TYPES[kind]} AS "{name}"' for name, kind in columns)
    values = ", ".join(f"({', '.join(map(literal, row))}, {place})" for place, row in enumerate(rows))
    tail = f" UNION ALL VALUES {values}" if values else ""
    return f"(SELECT {typed}, NULL::BIGINT AS ord WHERE FALSE{tail})"


def rows_of(statement: str) -> list[Row]:
    """The answer of one statement."""
    return list(connection().execute(statement).fetchall())


def same_value(left: Any, right: Any, tolerance: float = 1e-9) -> bool:
    """Whether two values are equal; floats up to rounding."""
    if left is None or right is None:
        return left is right
    if isinstance(left, float) or isinstance(right, float):
        return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance)
    return bool(left == right)


def same_row(left: Row, right: Row, tolerance: float = 1e-9) -> bool:
    """Whether two rows are equal."""
    return len(left) == len(right) and all(same_value(a, b, tolerance) for a, b in zip(left, right))


def same_bag(left: Iterable[Row], right: Iterable[Row], tolerance: float = 1e-9) -> bool:
    """Whether two bags hold the same rows equally often."""
    rest = list(right)
    for row in left:
        found = next((place for place, other in enumerate(rest) if same_row(row, other, tolerance)), None)
        if found is None:
            return False
        del rest[found]
    return not rest


def same_list(left: Sequence[Row], right: Sequence[Row], tolerance: float = 1e-9) -> bool:
    """Whether two lists hold the same rows in the same order."""
    return len(left) == len(right) and all(same_row(a, b, tolerance) for a, b in zip(left, right))


def without(left: Iterable[Row], right: Iterable[Row]) -> list[Row]:
    """List difference: each row on the right removes its first occurrence on the left."""
    rest = list(left)
    for row in right:
        if row in rest:
            rest.remove(row)
    return rest
