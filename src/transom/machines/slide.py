"""The machine that aggregates sliding windows of one group: a partial aggregate per tick, and each window from these.

A row is in so many windows, a period apart, or in those before the tick at which it says it is gone. What rows that
come and go together add up to is kept once, as a pane, and not once per window. Sums slide: a pane is added when it
enters the window and subtracted when it leaves, which is exact, because sums are whole numbers here. The least and the
greatest values slide with a queue in which no value can be overtaken: panes leave in the order in which they entered.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import pairwise
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


@dataclass(frozen=True, slots=True)
class SlideAggregate:
    """One value of a window: a function of the values at a place of the rows, NULLs left out.

    `type` is the type of these values. Without a place it is the number of rows.
    """

    function: str
    type: str
    argument: int | None

    def __post_init__(self) -> None:
        summed = self.function in ("sum", "avg")
        if self.function not in _FUNCTIONS or (summed and not Type(self.type).is_number):
            raise PlanError(f"there is no sliding {self.function} of {self.type}")
        if self.argument is None and self.function != "count":
            raise PlanError(f"a sliding {self.function} needs an argument")


@dataclass(frozen=True, slots=True)
class SlideSpec:
    """What a slide machine is told: a row is in `copies` windows, from that of its tick on, one per `period`.

    Without `copies` the first value of a row is the tick of the first window after it that does not hold it, and the
    arguments of aggregates count from the value after that. It travels as one small JSON document.
    """

    copies: int | None
    period: int
    aggregates: tuple[SlideAggregate, ...]

    def __post_init__(self) -> None:
        if (self.copies is not None and self.copies < 1) or self.period < 1:
            raise PlanError("a row is in at least one window, and windows are at least one tick apart")

    def to_json(self) -> str:
        """The document that every implementation of the machine reads."""
        aggregates = [{"function": a.function, "type": a.type, "argument": a.argument} for a in self.aggregates]
        entries = {"machine": "slide", "copies": self.copies, "period": self.period, "aggregates": aggregates}
        return json.dumps(entries, separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> SlideSpec:
        """The specification in a document."""
        entries: dict[str, Any] = json.loads(text)
        aggregates = tuple(SlideAggregate(**aggregate) for aggregate in entries["aggregates"])
        return SlideSpec(entries["copies"], entries["period"], aggregates)


class SlideMachine:
    """Rows of one group in, in any order, one row of aggregates per window out; keeps one pane per tick and end.

    A window comes out when its tick is closed and it holds a row. A pane is kept as long as a coming window holds it.
    Of two rows the one that comes later must not go earlier.
    """

    kind = "slide"

    def __init__(self, spec: SlideSpec) -> None:
        self.spec = spec
        self.panes: dict[tuple[int, int], list[Any]] = {}
        self.reached: int | None = None
        self._parts = [_part(aggregate) for aggregate in spec.aggregates]
        first = 1 if spec.copies is None else 0
        self._places = [None if a.argument is None else a.argument + first for a in spec.aggregates]

    @property
    def held(self) -> int:
        """Panes that are remembered."""
        return len(self.panes)

    @property
    def next(self) -> int | None:
        """The next tick at which something comes out if nothing more comes in."""
        if not self.panes:
            return None
        first, _ = min(self.panes)
        return first if self.reached is None else max(first, self.reached)

    def take(self, tick: int, row: Row) -> None:
        """A row of a tick that is not closed."""
        if self.reached is not None and tick < self.reached:
            raise PlanError(f"a row of tick {tick} came when all windows before {self.reached} were out")
        gone = self._gone(tick, row)
        pane = self.panes.get((tick, gone))
        if pane is None:
            pane = self._open(tick, gone)
        for place, (part, argument) in enumerate(zip(self._parts, self._places, strict=True)):
            value: Value = True if argument is None else row[argument]
            if value is not None:
                pane[place] = part.add(pane[place], value)

    def advance(self, closed: int) -> Iterator[tuple[int, Row]]:
        """The windows of all ticks up to one that is closed now, each with its values."""
        waiting, inside = deque(self._in_order()), deque[tuple[int, int]]()
        windows = [part.window() for part in self._parts]
        tick = self.next
        while tick is not None and tick <= closed:
            while waiting and waiting[0][0] <= tick:
                inside.append(waiting.popleft())
                for window, content in zip(windows, self.panes[inside[-1]], strict=True):
                    window.enter(content)
            while inside and inside[0][1] <= tick:
                for window, content in zip(windows, self.panes.pop(inside.popleft()), strict=True):
                    window.leave(content)
            if inside:
                yield tick, tuple(window.value() for window in windows)
                tick += self.spec.period
            else:
                tick = waiting[0][0] if waiting else None
        after = (closed // self.spec.period + 1) * self.spec.period
        self.reached = after if self.reached is None else max(after, self.reached)
        while inside and inside[0][1] <= self.reached:
            del self.panes[inside.popleft()]

    def save(self) -> bytes | None:
        """The state as bytes, None when nothing is remembered."""
        if not self.panes:
            return None
        panes = [
            [*key, [part.pack(content) for part, content in zip(self._parts, self.panes[key], strict=True)]]
            for key in self._in_order()
        ]
        return encoding.save(self.kind, [self.reached, panes])

    @classmethod
    def load(cls, spec: SlideSpec, state: bytes | None) -> SlideMachine:
        """The machine as it was when it was saved."""
        machine = cls(spec)
        if state is not None:
            machine.reached, panes = encoding.load(cls.kind, state)
            for tick, gone, pane in panes:
                cells = zip(machine._parts, pane, strict=True)
                machine.panes[tick, gone] = [part.unpack(content) for part, content in cells]
        return machine

    def _gone(self, tick: int, row: Row) -> int:
        """The tick of the first window after a row that does not hold it."""
        if self.spec.copies is not None:
            return tick + self.spec.copies * self.spec.period
        gone = row[0]
        if not isinstance(gone, int):
            raise PlanError(f"a row of tick {tick} does not say when it is gone")
        return gone

    def _open(self, tick: int, gone: int) -> list[Any]:
        period = self.spec.period
        if tick % period:
            raise PlanError(f"tick {tick} is not a window: these are {period} apart")
        if gone <= tick or gone % period:
            raise PlanError(f"a row of tick {tick} is gone at {gone}: no window after it, these are {period} apart")
        pane = self.panes[tick, gone] = [part.empty() for part in self._parts]
        return pane

    def _in_order(self) -> list[tuple[int, int]]:
        """The panes as they come, which is as they go."""
        panes = sorted(self.panes)
        if self.spec.copies is None:
            for (first, late), (tick, gone) in pairwise(panes):
                if gone < late:
                    raise PlanError(
                        f"a row of tick {tick} is gone at {gone}, but one of tick {first} at {late}: "
                        "of two rows the one that comes later must not go earlier"
                    )
        return panes


class _Window(Protocol):
    """One aggregate of the panes that are in the window; these leave in the order in which they entered."""

    def enter(self, content: Any) -> None: ...

    def leave(self, content: Any) -> None: ...

    def value(self) -> Value: ...


class _Part(Protocol):
    """What a pane keeps for one aggregate."""

    def empty(self) -> Any: ...

    def add(self, content: Any, value: Value) -> Any: ...

    def window(self) -> _Window: ...

    def pack(self, content: Any) -> Any: ...

    def unpack(self, cell: Any) -> Any: ...


def _part(aggregate: SlideAggregate) -> _Part:
    match aggregate.function:
        case "min":
            return _Extreme(1)
        case "max":
            return _Extreme(-1)
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

    def window(self) -> _Window:
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
        if self.function == "count":
            return self.count
        if not self.count:
            return None
        if self.function == "avg":
            return _nearest(self.total, self.kind) / self.count
        match self.kind:
            case Type.INTEGER:
                return self.total if INTEGER_MIN <= self.total <= INTEGER_MAX else None
            case Type.DECIMAL:
                number = one_form(_DECIMALS.divide(Decimal(self.total), Decimal(_UNITS)))
                return number if fits(number, Type.DECIMAL) else None
            case _:
                return _nearest(self.total, self.kind)


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


def _nearest(total: int, kind: Type) -> float:
    """A sum in units as a float, rounded once."""
    return total / (1 if kind is Type.INTEGER else _UNITS)


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

    def window(self) -> _Window:
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
