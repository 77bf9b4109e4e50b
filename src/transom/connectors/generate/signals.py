"""One function per signal: the next value of an attribute."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias, assert_never

from transom.catalog.sources import Choice, Clock, Constant, Signal, Sine, Site, Walk
from transom.connectors.generate.draws import Draw, normal, pick
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.model.types import Type, Value

Next: TypeAlias = Callable[[int], Value]
"""The next value of an attribute, for a row at a tick."""

_DIGITS = 6


def signal(setting: Signal, kind: Type, site: Value, draw: Draw, calendar: Calendar) -> Next:
    """The values of one attribute at one site, one after the other."""
    match setting:
        case Constant(value=value):
            return lambda tick: value
        case Walk():
            return _rounded(_walk(setting, draw), kind)
        case Sine():
            return _rounded(_sine(setting, draw), kind)
        case Choice(values=values, weights=weights):
            return lambda tick: values[pick(draw, weights)]
        case Clock():
            return _instant(calendar) if kind is Type.TIMESTAMP else lambda tick: tick
        case Site():
            return lambda tick: site
        case _:
            assert_never(setting)


def _walk(setting: Walk, draw: Draw) -> Callable[[int], float]:
    place: float | None = None

    def step(tick: int) -> float:
        nonlocal place
        if place is None:
            place = setting.start
        else:
            place = _reflected(place + setting.step * (2.0 * draw() - 1.0), setting.low, setting.high)
        return place

    return step


def _reflected(value: float, low: float | None, high: float | None) -> float:
    """A value thrown back at the bounds, and held at them where one throw is not enough."""
    if low is not None and value < low:
        value = 2.0 * low - value
    if high is not None and value > high:
        value = 2.0 * high - value
    return value if low is None else max(value, low)


def _sine(setting: Sine, draw: Draw) -> Callable[[int], float]:
    def wave(tick: int) -> float:
        turn = (tick % setting.period) / setting.period
        value = setting.mean + setting.amplitude * math.sin(2.0 * math.pi * turn)
        return value + setting.noise * normal(draw) if setting.noise else value

    return wave


def _rounded(values: Callable[[int], float], kind: Type) -> Next:
    """Whole numbers for integers, six decimals otherwise: finer digits may differ from machine to machine."""

    def rounded(tick: int) -> Value:
        value = values(tick)
        if kind is Type.INTEGER:
            return round(value)
        value = round(value, _DIGITS) + 0.0  # which makes 0.0 of -0.0
        return Decimal(repr(value)) if kind is Type.DECIMAL else value

    return rounded


def _instant(calendar: Calendar) -> Next:
    def instant(tick: int) -> Value:
        try:
            return calendar.instant_of(tick)
        except OverflowError as error:
            raise UsageError(f"tick {tick} lies after the year 9999", hint="end earlier") from error

    return instant
