"""Aggregates of sliding windows: partial aggregates of panes, and running aggregates of the panes in a window.

A sum adds a pane when it enters the window and subtracts it when it leaves; that is exact, because sums are integers
here. MIN and MAX use a monotonic queue. Panes leave in the order in which they entered.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Protocol

from transom.errors import DataError, PlanError
from transom.machines import codec
from transom.model.bag import Row, value_key
from transom.model.types import DIGITS, INTEGER_MAX, INTEGER_MIN, Type, Value, is_value_of, normalize_decimal

RANGE_ERROR = "TRANSOM_FLOAT_SUM_RANGE"
"""Prefix of the error message for a float outside the range of exact sums."""

EXACT_SUM_MIN, EXACT_SUM_LIMIT = 1e-21, 1e25
"""Exact sums accept 0 and floats with absolute values in this range; the upper limit is exclusive."""

_UNITS_PER_ONE: int = 10**DIGITS
_DECIMALS = Context(prec=DIGITS, traps=[])
_FUNCTIONS = ("count", "sum", "avg", "min", "max")
_ORDERED_FUNCTIONS = ("path", "first", "last")


@dataclass(frozen=True, slots=True)
class SlidingAggregateSpec:
    """One aggregate of a window: a function of column number `argument` (from 0); NULLs are ignored.

    `type` is the type of that column. Without an argument the aggregate is the number of rows, or the length of the
    path through them. `first` and `last` do not ignore NULLs.
    """

    function: str
    type: str
    argument: int | None

    def __post_init__(self) -> None:
        """Raise PlanError for an unknown function, a sum of a type that is not a number, or a missing argument."""
        summed = self.function in ("sum", "avg")
        if self.function not in _FUNCTIONS + _ORDERED_FUNCTIONS or (summed and not Type(self.type).is_number):
            raise PlanError(f"there is no sliding {self.function} of {self.type}")
        if self.argument is None and self.function not in ("count", "path"):
            raise PlanError(f"a sliding {self.function} needs an argument")

    @property
    def in_order(self) -> bool:
        """Whether the aggregate depends on the order of rows, as FIRST, LAST and path lengths do."""
        return self.function in _ORDERED_FUNCTIONS

    @property
    def counts_null(self) -> bool:
        """Whether NULLs count as values for this aggregate: true for FIRST and LAST, which do not ignore them."""
        return self.function in ("first", "last")


class SlidingAggregate(Protocol):
    """Running aggregate of the panes in a window; panes leave in the order in which they entered."""

    def enter(self, partial: Any) -> None:
        """Add the partial aggregate of a pane (a slice of the window) that enters the sliding window."""

    def leave(self, partial: Any) -> None:
        """Remove the partial aggregate of the oldest pane, which leaves the sliding window."""

    def value(self) -> Value:
        """The aggregate of all panes now in the sliding window."""


class PartialAggregate(Protocol):
    """Operations on the partial aggregate that a pane stores instead of its rows."""

    def empty(self) -> Any:
        """The partial aggregate of a pane without values."""

    def add(self, partial: Any, value: Value) -> Any:
        """Return the partial aggregate of a pane (window slice) extended by one more value."""

    def merge(self, before: Any, after: Any) -> Any:
        """Merge the partial aggregates of two consecutive panes (slices of a window)."""

    def window(self) -> SlidingAggregate:
        """Create the running aggregate of a sliding window, which panes (slices of the window) enter and leave."""

    def pack(self, partial: Any) -> Any:
        """Encode the partial aggregate of a pane for JSON, to save it as state."""

    def unpack(self, encoded: Any) -> Any:
        """Decode the partial aggregate of a pane (rows that share their windows) from what `pack` returned."""


def partial_aggregate(aggregate: SlidingAggregateSpec) -> PartialAggregate:
    """Choose the class that computes an aggregate function over panes, and create an object of it."""
    match aggregate.function:
        case "min":
            return _PartialExtreme(1)
        case "max":
            return _PartialExtreme(-1)
        case "path":
            return _PartialPath()
        case "first" | "last":
            return _PartialFirstLast(aggregate.function == "first")
        case function:
            return _PartialSum(function, Type(aggregate.type))


class _PartialSum:
    """Count of values and their exact sum in units; a unit is 1 for integers, else the last place of a decimal."""

    def __init__(self, function: str, kind: Type) -> None:
        """Create partial aggregates of panes for COUNT, SUM or AVG (`function`) of values of type `kind`."""
        self.function = function
        self.kind = kind

    def empty(self) -> tuple[int, int]:
        """Return (0, 0): the count and the exact sum of a pane without values."""
        return 0, 0

    def add(self, partial: tuple[int, int], value: Value) -> tuple[int, int]:
        """Return a pane's (count, exact sum) after one more value; COUNT leaves the sum unchanged."""
        count, total = partial
        return count + 1, total if self.function == "count" else total + to_units(value)

    def merge(self, before: tuple[int, int], after: tuple[int, int]) -> tuple[int, int]:
        """Add the (count, exact sum) of two consecutive panes."""
        return before[0] + after[0], before[1] + after[1]

    def window(self) -> SlidingAggregate:
        """Create the running COUNT, SUM or AVG of a sliding window that holds no panes yet."""
        return _SlidingSum(self.function, self.kind)

    def pack(self, partial: tuple[int, int]) -> Any:
        """Encode a pane's (count, exact sum) as a JSON list."""
        return list(partial)

    def unpack(self, encoded: Any) -> tuple[int, int]:
        """Decode a pane's (count, exact sum) from a JSON list."""
        count, total = encoded
        return count, total


class _SlidingSum:
    """Running COUNT, SUM or AVG: adds panes that enter the window and subtracts panes that leave it."""

    def __init__(self, function: str, kind: Type) -> None:
        """Create a running COUNT, SUM or AVG (`function`) of values of type `kind`, for a still empty window."""
        self.function = function
        self.kind = kind
        self.count = 0
        self.total = 0

    def enter(self, partial: tuple[int, int]) -> None:
        """Add the count and exact sum of a pane that enters the window."""
        self.count += partial[0]
        self.total += partial[1]

    def leave(self, partial: tuple[int, int]) -> None:
        """Subtract (count, exact sum) of a pane, that is a slice of the window, which leaves the window."""
        self.count -= partial[0]
        self.total -= partial[1]

    def value(self) -> Value:
        """Return COUNT, SUM or AVG of the panes now in the window; SUM and AVG of no values are NULL."""
        return finish_sum(self.function, self.kind, self.count, self.total)


def finish_sum(function: str, kind: Type, count: int, total: int) -> Value:
    """Compute COUNT, SUM or AVG from a count and an exact sum in units of `to_units`; SUM and AVG of nothing are NULL.

    An integer or decimal sum that its type cannot hold is NULL too.
    """
    if function == "count":
        return count
    if not count:
        return None
    if function == "avg":
        return _rounded_quotient(total, kind, count)
    match kind:
        case Type.INTEGER:
            return total if INTEGER_MIN <= total <= INTEGER_MAX else None
        case Type.DECIMAL:
            number = normalize_decimal(_DECIMALS.divide(Decimal(total), Decimal(_UNITS_PER_ONE)))
            return number if is_value_of(number, Type.DECIMAL) else None
        case _:
            return _rounded_quotient(total, kind)


def to_units(value: Value) -> int:
    """Convert a number to an exact integer to sum: integers stay, others are scaled by a fixed power of ten.

    A float counts as the decimal number that it prints as. Raises DataError for a float outside the range of exact
    sums; a float in that range has 17 digits and is at least 1e-21, so its last digit is also a digit of a decimal.
    """
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if value and not EXACT_SUM_MIN <= abs(value) < EXACT_SUM_LIMIT:
            raise DataError(
                f"{RANGE_ERROR}: exact sums do not take {value!r}, only 0 and sizes from {EXACT_SUM_MIN} "
                f"to {EXACT_SUM_LIMIT}",
                hint="use approximate_sums",
            )
        value = Decimal(repr(value))
    if not isinstance(value, Decimal):
        raise PlanError(f"{value!r} is not a number")
    sign, digits, exponent = value.as_tuple()
    units: int = int("".join(map(str, digits))) * 10 ** (int(exponent) + DIGITS)
    return -units if sign else units


def _rounded_quotient(total: int, kind: Type, count: int = 1) -> float:
    """Divide an exact sum, an integer scaled by `to_units`, by a count, rounding once; count 1 for a float SUM."""
    return total / (count if kind is Type.INTEGER else count * _UNITS_PER_ONE)


class _PartialExtreme:
    """Partial MIN of the values in a pane, or MAX if `sign` is -1."""

    def __init__(self, sign: int) -> None:
        """Create partial aggregates of panes for MIN (`sign` 1) or MAX (`sign` -1)."""
        self.sign = sign

    def empty(self) -> Value:
        """Return None, since a pane without values has no minimum or maximum."""
        return None

    def add(self, partial: Value, value: Value) -> Value:
        """Return the smaller (for MAX the larger) of a pane's extreme so far and a value; -0.0 becomes 0.0."""
        if isinstance(value, float):
            value += 0.0  # -0.0 is 0.0
        return value if partial is None or _precedes(value, partial, self.sign) else partial

    def merge(self, before: Value, after: Value) -> Value:
        """Return the smaller (for MAX the larger) of two panes' extremes; None if neither pane has a value."""
        return before if after is None else self.add(before, after)

    def window(self) -> SlidingAggregate:
        """Create the running MIN or MAX of a sliding window that holds no panes yet."""
        return _SlidingExtreme(self.sign)

    def pack(self, partial: Value) -> Any:
        """Encode a pane's minimum or maximum for JSON; None if the pane has no values."""
        return codec.pack((partial,))[0]

    def unpack(self, encoded: Any) -> Value:
        """Decode the minimum or maximum of a pane (a slice of a window) from JSON."""
        return codec.unpack([encoded])[0]


class _SlidingExtreme:
    """Monotonic queue of the pane values that no later pane has overtaken, each with its entry number."""

    def __init__(self, sign: int) -> None:
        """Create a running MIN (`sign` 1) or MAX (`sign` -1) of a sliding window that holds no rows yet."""
        self.sign = sign
        self.queue: deque[tuple[int, Value]] = deque()
        self.entered = 0
        self.left = 0

    def enter(self, partial: Value) -> None:
        """Append the extreme of a new pane to the queue, and drop earlier extremes that can no longer be the result."""
        self.entered += 1
        if partial is not None:
            while self.queue and not _precedes(self.queue[-1][1], partial, self.sign):
                self.queue.pop()
            self.queue.append((self.entered, partial))

    def leave(self, partial: Value) -> None:
        """Drop the oldest pane's extreme from the queue, unless a later extreme has already displaced it."""
        self.left += 1
        if self.queue and self.queue[0][0] == self.left:
            self.queue.popleft()

    def value(self) -> Value:
        """Return the minimum or maximum of the panes now in the window; None if they have no values."""
        return self.queue[0][1] if self.queue else None


def _precedes(value: Value, other: Value, sign: int) -> bool:
    """Whether a value sorts before another, or after it if `sign` is -1, in the order of values for MIN and MAX."""
    key, other_key = value_key(value), value_key(other)
    return key < other_key if sign > 0 else key > other_key


class _PartialPath:
    """Partial path length: the step to the first row of a pane, and the sum of all its steps."""

    def empty(self) -> tuple[int, int] | None:
        """Return None, the partial path length of a pane (slice of a window) without rows."""
        return None

    def add(self, partial: tuple[int, int] | None, value: Value) -> tuple[int, int]:
        """Extend a pane's (first step, sum of steps) by the step `value` in micrometres; None stands for no steps."""
        if not isinstance(value, int):
            raise PlanError(f"{value!r} is no step")
        return (value, value) if partial is None else (partial[0], partial[1] + value)

    def merge(self, before: tuple[int, int] | None, after: tuple[int, int] | None) -> tuple[int, int] | None:
        """Merge (first step, sum of steps) of two consecutive panes (slices of a window); None means no rows."""
        if before is None or after is None:
            return after if before is None else before
        return before[0], before[1] + after[1]

    def window(self) -> SlidingAggregate:
        """Create the running path length of a sliding window that holds no panes yet."""
        return _SlidingPath()

    def pack(self, partial: tuple[int, int] | None) -> Any:
        """Encode a pane's path (step to its first row, sum of steps; micrometres) as a JSON list; None without rows."""
        return None if partial is None else list(partial)

    def unpack(self, encoded: Any) -> tuple[int, int] | None:
        """Decode a pane's path length (step to first row, sum of steps) from JSON; None if the pane is empty."""
        return None if encoded is None else (encoded[0], encoded[1])


class _SlidingPath:
    """Running path length: the sum of all steps except the one to the first row of the window."""

    def __init__(self) -> None:
        """Create the running length of the path in a sliding window that is still empty."""
        self.total = 0
        self.firsts: deque[int] = deque()

    def enter(self, partial: tuple[int, int] | None) -> None:
        """Add the sum of steps (distances between successive rows, in micrometres) of a pane that enters the window."""
        if partial is not None:
            self.firsts.append(partial[0])
            self.total += partial[1]

    def leave(self, partial: tuple[int, int] | None) -> None:
        """Subtract the oldest pane's sum of steps (distances between successive rows) from the running total."""
        if partial is not None:
            self.firsts.popleft()
            self.total -= partial[1]

    def value(self) -> Value:
        """Return the length in micrometres of the path from the window's first row to its last; None without rows."""
        return self.total - self.firsts[0] if self.firsts else None


class _PartialFirstLast:
    """The value of the first or last row of a pane as a 1-tuple; an empty tuple if there is no row."""

    def __init__(self, first: bool) -> None:
        """Create the partial aggregates of panes (window slices), for FIRST if `first` is true, else for LAST."""
        self.first = first

    def empty(self) -> Row:
        """Return (), since a pane without rows has no first or last value."""
        return ()

    def add(self, partial: Row, value: Value) -> Row:
        """Return a pane's FIRST or LAST value after one more value, as a 1-tuple because it may be NULL."""
        return partial if partial and self.first else (value,)

    def merge(self, before: Row, after: Row) -> Row:
        """Merge two consecutive panes (slices of a window): the earlier value for FIRST, the later for LAST."""
        return before if self.first else after

    def window(self) -> SlidingAggregate:
        """Create the running FIRST or LAST of a sliding window, at first without panes (slices of the window)."""
        return _SlidingFirstLast(self.first)

    def pack(self, partial: Row) -> Any:
        """Encode a pane's first or last value as a JSON list, which is empty if the pane has no rows."""
        return codec.pack(partial)

    def unpack(self, encoded: Any) -> Row:
        """Decode a pane's first or last value from a JSON list, which is empty if the pane has no rows."""
        return codec.unpack(encoded)


class _SlidingFirstLast:
    """Running FIRST or LAST: a queue with the value of each pane in the window."""

    def __init__(self, first: bool) -> None:
        """Create a running FIRST if `first` is true, otherwise LAST, for a window without panes."""
        self.first = first
        self.values: deque[Row] = deque()

    def enter(self, partial: Row) -> None:
        """Append the first or last value of a new pane to the queue of the window."""
        self.values.append(partial)

    def leave(self, partial: Row) -> None:
        """Drop the FIRST or LAST value of the oldest pane, which leaves the sliding window."""
        self.values.popleft()

    def value(self) -> Value:
        """Return the value of the first or last row in the window; None if it holds no rows."""
        return self.values[0 if self.first else -1][0] if self.values else None
