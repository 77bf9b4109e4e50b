"""Exact sums whose members can be retracted in any order; results are rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from transom.machines.aggregates.sliding import finish_sum, to_units
from transom.model.rdf.values import DIGITS, PLACES, NumericKind, to_float32, to_floating_point
from transom.model.types import Type, Value

_DECIMAL_UNITS_PER_ONE: int = 10**PLACES
_BINARY_UNITS_PER_ONE: int = 1 << 1074
"""Every finite float is a whole number of units of 1 / _BINARY_UNITS_PER_ONE."""


class RetractableSum:
    """COUNT, SUM or AVG of values of one type, from their count and exact sum in units; NULLs are ignored."""

    width = 1

    def __init__(self, function: str, kind: Type | None) -> None:
        """Create an empty COUNT, SUM or AVG (`function`); `kind` is the type of the values, or None for COUNT."""
        self.function = function
        self.kind = kind
        self.count = 0
        self.total = 0

    @property
    def valid(self) -> bool:
        """Whether the count is at least 0; it is negative if more values were retracted than were added."""
        return self.count >= 0

    def add(self, cells: Sequence[Value], count: int) -> None:
        """Add `count` copies of the value `cells[0]`, or remove copies if `count` is negative; NULL is ignored."""
        if cells[0] is not None:
            self.count += count
            if self.function != "count":
                self.total += count * to_units(cells[0])

    def value(self) -> tuple[Value, ...]:
        """Return the aggregate as a 1-tuple; a SUM of decimals is text, since it may have too many digits for its type.

        The digits of such a sum may not fit into a decimal column.
        """
        number = finish_sum(self.function, self.kind or Type.INTEGER, self.count, self.total)
        return (str(number) if isinstance(number, Decimal) else number,)

    def pack(self) -> Any:
        """Encode the count and the exact sum for JSON."""
        return [self.count, self.total]

    def unpack(self, encoded: Any) -> None:
        """Restore the count and the exact sum that `pack` encoded."""
        self.count, self.total = encoded


class RetractableTermSum:
    """SUM or AVG of RDF numbers: all are promoted to the kind of the result, and the exact sum is rounded once.

    A number has three cells: its kind, its exact value (times 10^18 for a decimal) and its floating
    value. A member without a kind is an error. There is one sum for each kind that a result can have: of exact numbers,
    of numbers as 32-bit floats, and of numbers as 64-bit floats.
    """

    def __init__(self, function: str) -> None:
        """Create an empty SUM or AVG of RDF numbers; `function` is `sum` or `avg`."""
        self.with_count = function == "avg"
        self.counts = [0] * 5
        """Number of members without a kind, then of each kind."""
        self.non_finite_counts = [0] * 3
        """Number of NaNs, infinities and negative infinities."""
        self.sums = [0] * 3

    @property
    def width(self) -> int:
        """Number of result columns: 3 for SUM (numeric kind, exact digits, float), 4 for AVG, which adds the count."""
        return 4 if self.with_count else 3

    @property
    def valid(self) -> bool:
        """Whether all counts are at least 0; one is negative if more values were retracted than were added."""
        return min(*self.counts, *self.non_finite_counts) >= 0

    def add(self, cells: Sequence[Any], count: int) -> None:
        """Add `count` (negative: remove) copies of the number or error whose (kind, exact, float) values end `cells`.

        The last three of `cells` are the number's kind, its exact value and its floating-point value.
        """
        *_, kind, exact, floating = cells
        self.counts[kind or 0] += count
        if kind is None:
            return
        if kind <= NumericKind.DECIMAL:
            units = int(exact) * (_DECIMAL_UNITS_PER_ONE if kind == NumericKind.INTEGER else 1)
            self.sums[0] += count * units
            floating = units / _DECIMAL_UNITS_PER_ONE
            self.sums[1] += count * _to_binary_units(to_float32(floating))
        elif not math.isfinite(floating):
            self.non_finite_counts[0 if math.isnan(floating) else 1 if floating > 0 else 2] += count
            return
        elif kind == NumericKind.FLOAT:
            self.sums[1] += count * _to_binary_units(floating)
        self.sums[2] += count * _to_binary_units(floating)

    def value(self) -> tuple[Value, ...]:
        """Return the sum as (numeric kind, exact digits, float), for AVG also the count; NULLs for an error."""
        kind, digits, floating = self._sum()
        if not self.with_count:
            return kind, digits, floating
        return kind, digits, floating, None if kind is None else sum(self.counts)

    def _sum(self) -> tuple[int | None, str | None, float | None]:
        """Return (numeric kind, exact digits or None, float or None); all None for an error or too many digits."""
        if self.counts[0]:
            return None, None, None
        kind = max((kind for kind in NumericKind if self.counts[kind]), default=NumericKind.INTEGER)
        if kind >= NumericKind.FLOAT:
            return int(kind), None, self._floating(kind)
        exact = self.sums[0] // (_DECIMAL_UNITS_PER_ONE if kind is NumericKind.INTEGER else 1)
        return (int(kind), str(exact), None) if abs(exact) < 10**DIGITS else (None, None, None)

    def _floating(self, kind: NumericKind) -> float:
        """Round the exact sum once to a 32-bit or 64-bit float, as `kind` says; NaN and infinities follow IEEE 754."""
        nan, positive_infinity, negative_infinity = self.non_finite_counts
        if nan or (positive_infinity and negative_infinity):
            return math.nan
        if positive_infinity or negative_infinity:
            return math.inf if positive_infinity else -math.inf
        return to_floating_point(
            Fraction(self.sums[1 if kind is NumericKind.FLOAT else 2], _BINARY_UNITS_PER_ONE), kind
        )

    def pack(self) -> Any:
        """Return the state as a list for JSON: counts of numbers, counts of NaN and infinities, exact sums."""
        return [self.counts, self.non_finite_counts, self.sums]

    def unpack(self, encoded: Any) -> None:
        """Restore the counts and exact sums that `pack` encoded."""
        self.counts, self.non_finite_counts, self.sums = encoded


def _to_binary_units(value: float) -> int:
    """Convert a finite float to an exact integer: its multiple of 2**-1074, the smallest positive float."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * (_BINARY_UNITS_PER_ONE // denominator)
