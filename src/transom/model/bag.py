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
    """A tagged tuple: values with the tick of their creation and their position in the stream, from 1."""

    tick: int
    index: int
    row: Row


@dataclass(frozen=True, slots=True)
class Bag:
    """A window: the tick of its creation and the bag of tuples it holds; `key` says which lineage it belongs to.

    The tuples are a bag; their list order only makes the running index of converters the same every time (S33). One
    that is `over` is no window: it says that its key is forgotten from that tick on.
    """

    tick: int
    rows: tuple[Row, ...]
    key: Row = ()
    over: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """The content of a stored table from a tick on."""

    tick: int
    rows: tuple[Row, ...]


_RANK = {bool: 1, int: 2, float: 2, Decimal: 2, str: 3, datetime: 4, Point: 5, Line: 6}

Ordered: TypeAlias = tuple[int, int | float | str | Decimal | datetime | Point | Line]


def value_key(value: Value) -> Ordered:
    """A key that puts any two values in order: NULL, booleans, numbers by size, strings by code point, timestamps.

    Then come places by their coordinates, and terms by their spelling.
    """
    if value is None:
        return (0, 0)
    if isinstance(value, Term):
        return (7, str(value))
    return (_RANK[type(value)], value)


def row_key(row: Row) -> tuple[Ordered, ...]:
    """A key that puts any two rows in order: the one comparator for ties (E1) and for groups."""
    return tuple(map(value_key, row))


def identity(value: Value) -> tuple[str, Value]:
    """What makes two values the same value in a bag: type and value, so that 1 and TRUE stay apart."""
    return ("boolean" if isinstance(value, bool) else "", value)


def row_identity(row: Row) -> tuple[tuple[str, Value], ...]:
    """What makes two rows the same row in a bag."""
    return tuple(map(identity, row))


def difference(left: Sequence[Row], right: Iterable[Row]) -> tuple[Row, ...]:
    """Bag difference, the `\\\\` of Figure 8: each row of the right removes its first occurrence on the left (S12).

    >>> difference([(7,), (8,), (7,)], [(7,)])
    ((8,), (7,))
    """
    away = Counter(map(row_identity, right))
    kept: list[Row] = []
    for row in left:
        key = row_identity(row)
        if away[key] > 0:
            away[key] -= 1
        else:
            kept.append(row)
    return tuple(kept)
