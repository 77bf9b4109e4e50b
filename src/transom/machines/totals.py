"""Sums of which members leave in any order: exact, so that no order changes them, and rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from transom.machines.aggregates import total_value, units
from transom.model.rdf.values import DIGITS, PLACES, Kind, nearest, single
from transom.model.types import Type, Value

_PLACES: int = 10**PLACES
_BINARY: int = 1 << 1074
"""Every finite float is a whole number of units of 1 / _BINARY."""


class Total:
    """The number of values of one type, and their sum in units; NULLs do not count."""

    width = 1

    def __init__(self, function: str, kind: Type | None) -> None:
        self.function = function
        self.kind = kind
        self.count = 0
        self.total = 0

    @property
    def valid(self) -> bool:
        """Whether no more values were removed than added."""
        return self.count >= 0

    def add(self, cells: Sequence[Value], count: int) -> None:
        """Add copies of a value, or remove them."""
        if cells[0] is not None:
            self.count += count
            if self.function != "count":
                self.total += count * units(cells[0])

    def value(self) -> tuple[Value, ...]:
        """The aggregate; a sum of decimals is text, as its digits may not fit into a column of decimals."""
        found = total_value(self.function, self.kind or Type.INTEGER, self.count, self.total)
        return (str(found) if isinstance(found, Decimal) else found,)

    def pack(self) -> Any:
        """The sum, for JSON."""
        return [self.count, self.total]

    def unpack(self, cell: Any) -> None:
        """Take over what was packed."""
        self.count, self.total = cell


class TermTotal:
    """The sum of numbers of RDF: each becomes the kind of the sum, and the exact sum is rounded once.

    A number is its kind, its exact value (whole for an integer, times 10^18 for a decimal) and its floating value. A
    member without a kind is an error. There is one sum for each kind that a result can have: of exact numbers, of
    numbers as floats of 32 bits, and of numbers as floats of 64 bits.
    """

    def __init__(self, function: str) -> None:
        self.with_count = function == "avg"
        self.counts = [0] * 5
        """Members without a kind, then by kind."""
        self.endless = [0] * 3
        """NaN, infinity and negative infinity."""
        self.sums = [0] * 3

    @property
    def width(self) -> int:
        """Values of the aggregate."""
        return 4 if self.with_count else 3

    @property
    def valid(self) -> bool:
        """Whether no more values were removed than added."""
        return min(*self.counts, *self.endless) >= 0

    def add(self, cells: Sequence[Any], count: int) -> None:
        """Add copies of a number, or remove them."""
        *_, kind, exact, floating = cells
        self.counts[kind or 0] += count
        if kind is None:
            return
        if kind <= Kind.DECIMAL:
            whole = int(exact) * (_PLACES if kind == Kind.INTEGER else 1)
            self.sums[0] += count * whole
            floating = whole / _PLACES
            self.sums[1] += count * _binary(single(floating))
        elif not math.isfinite(floating):
            self.endless[0 if math.isnan(floating) else 1 if floating > 0 else 2] += count
            return
        elif kind == Kind.FLOAT:
            self.sums[1] += count * _binary(floating)
        self.sums[2] += count * _binary(floating)

    def value(self) -> tuple[Value, ...]:
        """The sum as kind, digits of its exact value, and floating value, all NULL for an error; AVG adds the count."""
        kind, digits, floating = self._sum()
        if not self.with_count:
            return kind, digits, floating
        return kind, digits, floating, None if kind is None else sum(self.counts)

    def _sum(self) -> tuple[int | None, str | None, float | None]:
        if self.counts[0]:
            return None, None, None
        kind = max((kind for kind in Kind if self.counts[kind]), default=Kind.INTEGER)
        if kind >= Kind.FLOAT:
            return int(kind), None, self._floating(kind)
        exact = self.sums[0] // (_PLACES if kind is Kind.INTEGER else 1)
        return (int(kind), str(exact), None) if abs(exact) < 10**DIGITS else (None, None, None)

    def _floating(self, kind: Kind) -> float:
        nan, endless, negative = self.endless
        if nan or (endless and negative):
            return math.nan
        if endless or negative:
            return math.inf if endless else -math.inf
        return nearest(Fraction(self.sums[1 if kind is Kind.FLOAT else 2], _BINARY), kind)

    def pack(self) -> Any:
        """The sum, for JSON."""
        return [self.counts, self.endless, self.sums]

    def unpack(self, cell: Any) -> None:
        """Take over what was packed."""
        self.counts, self.endless, self.sums = cell


def _binary(value: float) -> int:
    """A finite float in units of 1 / _BINARY."""
    over, under = value.as_integer_ratio()
    return over * (_BINARY // under)
