"""Tagged tuples, windows, and bags of tuples (Sec. 3 of the SNEEql document)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from transom.model.rdf.terms import Term
from transom.model.types import Line, Point, Value

Row: TypeAlias = tuple[Value, ...]
"""The values of one tuple, in the order of its schema."""


@dataclass(frozen=True, slots=True)
class Element:
    """A tagged tuple: values with the tick of their creation and their index: their number in the stream, from 1."""

    tick: int
    index: int
    row: Row


@dataclass(frozen=True, slots=True)
class Bag:
    """A window: the tick of its creation, the bag of tuples that it holds, and the key that it belongs to.

    The tuples are a bag; their list order only keeps the running index of converters deterministic (S33). A bag with
    `is_final` is not a window: it marks that its key is forgotten from that tick on.
    """

    tick: int
    rows: tuple[Row, ...]
    key: Row = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class TableVersion:
    """The content of a stored table from a tick on."""

    tick: int
    rows: tuple[Row, ...]


_RANK = {bool: 1, int: 2, float: 2, Decimal: 2, str: 3, datetime: 4, Point: 5, Line: 6}

SortValue: TypeAlias = tuple[int, int | float | str | Decimal | datetime | Point | Line]


def value_key(value: Value) -> SortValue:
    """Return the sort key of a value: NULL comes first, then booleans, numbers, strings and timestamps.

    It orders ties and groups. Then come points and lines by their coordinates, and terms by their text.
    """
    if value is None:
        return (0, 0)
    if isinstance(value, Term):
        return (7, str(value))
    return (_RANK[type(value)], value)


def row_key(row: Row) -> tuple[SortValue, ...]:
    """Return the sort key of a row, made of the sort keys of its values; it orders ties (E1) and groups."""
    return tuple(map(value_key, row))


def value_identity(value: Value) -> tuple[str, Value]:
    """Return a hashable key that only equal values share; unlike in Python, 1 and TRUE have different keys."""
    return ("boolean" if isinstance(value, bool) else "", value)


def row_identity(row: Row) -> tuple[tuple[str, Value], ...]:
    """Return a hashable key that only equal rows share; unlike in Python, 1 and TRUE have different keys."""
    return tuple(map(value_identity, row))


def difference(left: Sequence[Row], right: Iterable[Row]) -> tuple[Row, ...]:
    """Subtract bags of rows: each row of `right` removes one equal row of `left`, the first (Figure 8, S12).

    >>> difference([(7,), (8,), (7,)], [(7,)])
    ((8,), (7,))
    """
    removals = Counter(map(row_identity, right))
    remaining: list[Row] = []
    for row in left:
        key = row_identity(row)
        if removals[key] > 0:
            removals[key] -= 1
        else:
            remaining.append(row)
    return tuple(remaining)
