"""Signals: functions that produce the next value of an attribute."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias, assert_never

from transom.catalog.sources import (
    ChoiceSignal,
    ClockSignal,
    ConstantSignal,
    Signal,
    SineSignal,
    SiteSignal,
    WalkSignal,
)
from transom.connectors.generate.draws import Draw, normal, weighted_index
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.model.types import Type, Value

NextValue: TypeAlias = Callable[[int], Value]
"""Returns the next value of an attribute, for a row at a tick."""

_DIGITS = 6


def make_signal(setting: Signal, kind: Type, site: Value, draw: Draw, calendar: Calendar) -> NextValue:
    """Return a function from a row's tick to the generated value of an attribute, for one site (place of a sensor).

    `setting` is the declared signal, such as a random walk, `kind` the type of the attribute.
    """
    match setting:
        case ConstantSignal(value=value):
            return lambda tick: value
        case WalkSignal():
            return _rounded(_walk(setting, draw), kind)
        case SineSignal():
            return _rounded(_sine(setting, draw), kind)
        case ChoiceSignal(values=values, weights=weights):
            return lambda tick: values[weighted_index(draw, weights)]
        case ClockSignal():
            return _instant(calendar) if kind is Type.TIMESTAMP else lambda tick: tick
        case SiteSignal():
            return lambda tick: site
        case _:
            assert_never(setting)


def _walk(setting: WalkSignal, draw: Draw) -> Callable[[int], float]:
    """Create the generator of a random walk, which moves by at most one step per row and stays within its bounds."""
    value: float | None = None

    def step(tick: int) -> float:
        """Return the next value of the random walk at each call; `tick` is not used."""
        nonlocal value
        if value is None:
            value = setting.start
        else:
            value = _reflected(value + setting.step * (2.0 * draw() - 1.0), setting.low, setting.high)
        return value

    return step


def _reflected(value: float, low: float | None, high: float | None) -> float:
    """Reflect the value of a random walk at its bounds `low` and `high` (None: no bound), so that it lies between them.

    It is clamped if one reflection is not enough.
    """
    if low is not None and value < low:
        value = 2.0 * low - value
    if high is not None and value > high:
        value = 2.0 * high - value
    return value if low is None else max(value, low)


def _sine(setting: SineSignal, draw: Draw) -> Callable[[int], float]:
    """Create the function from tick to value of a declared sine wave, with random noise if that is declared."""

    def wave(tick: int) -> float:
        """Return the value of the sine wave at a tick, with normally distributed noise if it is declared."""
        phase = (tick % setting.period) / setting.period
        value = setting.mean + setting.amplitude * math.sin(2.0 * math.pi * phase)
        return value + setting.noise * normal(draw) if setting.noise else value

    return wave


def _rounded(values: Callable[[int], float], kind: Type) -> NextValue:
    """Return the function `values` with results rounded to integers or six decimals, the same on all machines."""

    def rounded(tick: int) -> Value:
        """Return the generated value at `tick`, rounded and converted to the attribute's type."""
        value = values(tick)
        if kind is Type.INTEGER:
            return round(value)
        value = round(value, _DIGITS) + 0.0  # turns -0.0 into 0.0
        return Decimal(repr(value)) if kind is Type.DECIMAL else value

    return rounded


def _instant(calendar: Calendar) -> NextValue:
    """Create the generator of a TIMESTAMP attribute: the instant at which the row's tick begins."""

    def instant(tick: int) -> Value:
        """Return the instant at which a tick begins; raise UsageError if it is after the year 9999."""
        try:
            return calendar.instant_of(tick)
        except OverflowError as error:
            raise UsageError(f"tick {tick} lies after the year 9999", hint="end earlier") from error

    return instant
