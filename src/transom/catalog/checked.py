"""Values read with their place at hand, so that what cannot be read becomes a Misfit there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from transom.catalog.places import At, Misfit
from transom.catalog.ticks import Hinted, read_value
from transom.model.schema import Attribute
from transom.model.time import Calendar
from transom.model.types import Type, Value

T = TypeVar("T")

LENGTH = "write a length of time such as 1 min"
RATE = "write a rate such as 20 per min"


def worded(read: Callable[[str, Calendar], T], words: str, at: At, calendar: Calendar, hint: str = LENGTH) -> T:
    """What a reader of lengths, rates or ticks makes of some words."""
    try:
        return read(words, calendar)
    except Hinted as error:
        raise Misfit(str(error), at, error.hint) from error
    except ValueError as error:
        raise Misfit(str(error), at, hint) from error


def typed(value: object, attribute: Attribute, at: At) -> Value:
    """A value of the type of an attribute."""
    try:
        return read_value(value, attribute.type)
    except ValueError as error:
        text = attribute.type is Type.STRING and isinstance(value, bool | int | float)
        hint = "put it in quotes" if text else f"{attribute.name} is of type {attribute.type}"
        raise Misfit(str(error), at, hint) from error
