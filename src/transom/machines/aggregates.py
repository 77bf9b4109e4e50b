"""Aggregates of windows that slide: what a pane keeps of its rows, and what the panes of a window come to.

Sums slide: a pane is added when it enters the window and subtracted when it leaves, which is exact, because sums are
whole numbers here. The least and the greatest values slide with a queue in which no value can be overtaken. Panes
leave in the order in which they entered.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Protocol

from transom.errors import DataError, PlanError
from transom.machines import encoding
from transom.model.bag import Row, value_key
from transom.model.types import DIGITS, INTEGER_MAX, INTEGER_MIN, Type, Value, fits, one_form

RANGE_ERROR = "TRANSOM_FLOAT_SUM_RANGE"
"""How the message begins when a float is beyond what exact sums take."""

LEAST, LIMIT = 1e-21, 1e25
"""Exact sums take 0 and floats of these sizes, the limit not included."""

_UNITS: int = 10**DIGITS
_DECIMALS = Context(prec=DIGITS, traps=[])
_FUNCTIONS = ("count", "sum", "avg", "min", "max")
_IN_ORDER = ("path", "first", "last")


@dataclass(frozen=True, slots=True)
class SlideAggregate:
    """One value of a window: a function of the values at a place of the rows, NULLs left out.

    `type` is the type of these values. Without a place it is the number of rows, or the path through them. The values
    of the first and of the last row may be NULL.
    """

    function: str
    type: str
    argument: int | None

    def __post_init__(self) -> None:
        summed = self.function in ("sum", "avg")
        if self.function not in _FUNCTIONS + _IN_ORDER or (summed and not Type(self.type).is_number):
            raise PlanError(f"there is no sliding {self.function} of {self.type}")
        if self.argument is None and self.function not in ("count", "path"):
            raise PlanError(f"a sliding {self.function} needs an argument")

    @property
    def in_order(self) -> bool:
        """Whether it depends on the order of rows."""
        return self.function in _IN_ORDER

    @property
    def counts_null(self) -> bool:
        """Whether NULL is a value like any other."""
        return self.function in ("first", "last")


class Sliding(Protocol):
    """One aggregate of the panes that are in the window; these leave in the order in which they entered."""

    def enter(self, content: Any) -> None:
        """A pane enters the window."""

    def leave(self, content: Any) -> None:
        """The pane that has been in the window longest leaves it."""

    def value(self) -> Value:
        """What the panes in the window come to."""


class Part(Protocol):
    """What a pane keeps for one aggregate."""

    def empty(self) -> Any:
        """What it keeps before any value."""

    def add(self, content: Any, value: Value) -> Any:
        """What it keeps with one value more."""

    def merge(self, before: Any, after: Any) -> Any:
        """What two panes keep, of which one comes after the other."""

    def window(self) -> Sliding:
        """A window without a pane."""

    def pack(self, content: Any) -> Any:
        """What it keeps, for JSON."""

    def unpack(self, cell: Any) -> Any:
        """What was packed."""


def part_of(aggregate: SlideAggregate) -> Part:
    """What a pane keeps for an aggregate."""
    match aggregate.function:
        case "min":
            return _Extreme(1)
        case "max":
            return _Extreme(-1)
        case "path":
            return _Path()
        case "first" | "last":
            return _End(aggregate.function == "first")
        case function:
            return _Total(function, Type(aggregate.type))


class _Total:
    """How many values there are, and their sum in units: a unit is 1, or the last place that a decimal can have."""

    def __init__(self, function: str, kind: Type) -> None:
        self.function = function
        self.kind = kind

    def empty(self) -> tuple[int, int]:
        return 0, 0

    def add(self, content: tuple[int, int], value: Value) -> tuple[int, int]:
        count, total = content
        return count + 1, total if self.function == "count" else total + units(value)

    def merge(self, before: tuple[int, int], after: tuple[int, int]) -> tuple[int, int]:
        return before[0] + after[0], before[1] + after[1]

    def window(self) -> Sliding:
        return _TotalWindow(self.function, self.kind)

    def pack(self, content: tuple[int, int]) -> Any:
        return list(content)

    def unpack(self, cell: Any) -> tuple[int, int]:
        count, total = cell
        return count, total


class _TotalWindow:
    def __init__(self, function: str, kind: Type) -> None:
        self.function = function
        self.kind = kind
        self.count = 0
        self.total = 0

    def enter(self, content: tuple[int, int]) -> None:
        self.count += content[0]
        self.total += content[1]

    def leave(self, content: tuple[int, int]) -> None:
        self.count -= content[0]
        self.total -= content[1]

    def value(self) -> Value:
        return total_value(self.function, self.kind, self.count, self.total)


def total_value(function: str, kind: Type, count: int, total: int) -> Value:
    """A count, a sum or a mean of values of a type, from their number and their sum in units; NULL of no value."""
    if function == "count":
        return count
    if not count:
        return None
    if function == "avg":
        return _nearest(total, kind, count)
    match kind:
        case Type.INTEGER:
            return total if INTEGER_MIN <= total <= INTEGER_MAX else None
        case Type.DECIMAL:
            number = one_form(_DECIMALS.divide(Decimal(total), Decimal(_UNITS)))
            return number if fits(number, Type.DECIMAL) else None
        case _:
            return _nearest(total, kind)


def units(value: Value) -> int:
    """How many units a number is; a float means the decimal number it prints as.

    A float that exact sums take has 17 digits and is at least 1e-21, so its last place is one of a decimal too.
    """
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if value and not LEAST <= abs(value) < LIMIT:
            raise DataError(
                f"{RANGE_ERROR}: exact sums do not take {value!r}, only 0 and sizes from {LEAST} to {LIMIT}",
                hint="use approximate_sums",
            )
        value = Decimal(repr(value))
    if not isinstance(value, Decimal):
        raise PlanError(f"{value!r} is not a number")
    sign, digits, exponent = value.as_tuple()
    size: int = int("".join(map(str, digits))) * 10 ** (int(exponent) + DIGITS)
    return -size if sign else size


def _nearest(total: int, kind: Type, count: int = 1) -> float:
    """A sum in units divided by a count, rounded once: Python divides integers of any size exactly."""
    return total / (count if kind is Type.INTEGER else count * _UNITS)


class _Extreme:
    """The least value, or with the sign -1 the greatest."""

    def __init__(self, sign: int) -> None:
        self.sign = sign

    def empty(self) -> Value:
        return None

    def add(self, content: Value, value: Value) -> Value:
        if isinstance(value, float):
            value += 0.0  # -0.0 is 0.0
        return value if content is None or _beyond(value, content, self.sign) else content

    def merge(self, before: Value, after: Value) -> Value:
        return before if after is None else self.add(before, after)

    def window(self) -> Sliding:
        return _ExtremeWindow(self.sign)

    def pack(self, content: Value) -> Any:
        return encoding.pack((content,))[0]

    def unpack(self, cell: Any) -> Value:
        return encoding.unpack([cell])[0]


class _ExtremeWindow:
    """The values of panes that no later pane has overtaken, and how many panes before it each has overtaken."""

    def __init__(self, sign: int) -> None:
        self.sign = sign
        self.queue: deque[tuple[int, Value]] = deque()
        self.entered = 0
        self.left = 0

    def enter(self, content: Value) -> None:
        self.entered += 1
        if content is not None:
            while self.queue and not _beyond(self.queue[-1][1], content, self.sign):
                self.queue.pop()
            self.queue.append((self.entered, content))

    def leave(self, content: Value) -> None:
        self.left += 1
        if self.queue and self.queue[0][0] == self.left:
            self.queue.popleft()

    def value(self) -> Value:
        return self.queue[0][1] if self.queue else None


def _beyond(value: Value, other: Value, sign: int) -> bool:
    mine, others = value_key(value), value_key(other)
    return mine < others if sign > 0 else mine > others


class _Path:
    """The way through rows with a place: the step to the first of them, and all their steps."""

    def empty(self) -> tuple[int, int] | None:
        return None

    def add(self, content: tuple[int, int] | None, value: Value) -> tuple[int, int]:
        if not isinstance(value, int):
            raise PlanError(f"{value!r} is no step")
        return (value, value) if content is None else (content[0], content[1] + value)

    def merge(self, before: tuple[int, int] | None, after: tuple[int, int] | None) -> tuple[int, int] | None:
        if before is None or after is None:
            return after if before is None else before
        return before[0], before[1] + after[1]

    def window(self) -> Sliding:
        return _PathWindow()

    def pack(self, content: tuple[int, int] | None) -> Any:
        return None if content is None else list(content)

    def unpack(self, cell: Any) -> tuple[int, int] | None:
        return None if cell is None else (cell[0], cell[1])


class _PathWindow:
    """All steps but that to the first row of the window."""

    def __init__(self) -> None:
        self.total = 0
        self.firsts: deque[int] = deque()

    def enter(self, content: tuple[int, int] | None) -> None:
        if content is not None:
            self.firsts.append(content[0])
            self.total += content[1]

    def leave(self, content: tuple[int, int] | None) -> None:
        if content is not None:
            self.firsts.popleft()
            self.total -= content[1]

    def value(self) -> Value:
        return self.total - self.firsts[0] if self.firsts else None


class _End:
    """The value of the first or of the last row, in a tuple; none for no row."""

    def __init__(self, first: bool) -> None:
        self.first = first

    def empty(self) -> Row:
        return ()

    def add(self, content: Row, value: Value) -> Row:
        return content if content and self.first else (value,)

    def merge(self, before: Row, after: Row) -> Row:
        return before if self.first else after

    def window(self) -> Sliding:
        return _EndWindow(self.first)

    def pack(self, content: Row) -> Any:
        return encoding.pack(content)

    def unpack(self, cell: Any) -> Row:
        return encoding.unpack(cell)


class _EndWindow:
    def __init__(self, first: bool) -> None:
        self.first = first
        self.values: deque[Row] = deque()

    def enter(self, content: Row) -> None:
        self.values.append(content)

    def leave(self, content: Row) -> None:
        self.values.popleft()

    def value(self) -> Value:
        return self.values[0 if self.first else -1][0] if self.values else None
