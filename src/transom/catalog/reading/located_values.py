"""Read values with their locations, so that invalid ones raise EntryError there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.ticks import HintedError, accepted_hint, read_value
from transom.model.schema import Attribute
from transom.model.time import Calendar
from transom.model.types import Type, Value

Parsed = TypeVar("Parsed")

LENGTH_HINT = "write a length of time such as 1 min"
RATE_HINT = "write a rate such as 20 per min"


def read_text_at(
    read: Callable[[str, Calendar], Parsed], text: str, at: Location, calendar: Calendar, hint: str = LENGTH_HINT
) -> Parsed:
    """Parse a duration, rate or tick with `read`; if invalid, EntryError with the hint of `read` or else `hint`.

    The error has the given `hint`.
    """
    try:
        return read(text, calendar)
    except HintedError as error:
        raise EntryError(str(error), at, error.hint) from error
    except ValueError as error:
        raise EntryError(str(error), at, hint) from error


def read_value_at(value: object, attribute: Attribute, at: Location) -> Value:
    """Convert a value to an attribute's type; raise EntryError at its location in the catalog if it does not fit."""
    try:
        return read_value(value, attribute.type)
    except ValueError as error:
        needs_quotes = attribute.type is Type.STRING and isinstance(value, bool | int | float)
        has_quotes = attribute.type.is_number and isinstance(value, str)
        hint = f"{accepted_hint(attribute.type)}{', without quotes' if has_quotes else ''}"
        if needs_quotes:
            hint = "put it in quotes"
        raise EntryError(str(error), at, hint) from error
