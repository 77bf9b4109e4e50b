"""The types of values, and the Python values that carry them.

The seeds have integer, float, string and time; boolean, timestamp and decimal are ours (E13). NULL is a value of
every type; the literal NULL alone has the type NULL until its surroundings give it another. Points and lines come
from the positions of rows and are never declared: a catalog says which columns hold a position.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import NamedTuple, TypeAlias

from transom.model.rdf.terms import Term


class Point(NamedTuple):
    """A place: coordinates on the plane, or longitude and latitude."""

    x: float
    y: float

    def __str__(self) -> str:
        return f"POINT ({plain_number(self.x)} {plain_number(self.y)})"


class Line(tuple[Point, ...]):
    """Places one after the other; one place alone is a line too."""

    __slots__ = ()

    def __str__(self) -> str:
        if len(self) == 1:
            return str(self[0])
        return "LINESTRING (" + ", ".join(f"{plain_number(p.x)} {plain_number(p.y)}" for p in self) + ")"


def wkb(places: Sequence[tuple[float, float]]) -> str:
    """Well-known binary of a line in hexadecimal digits, least byte first; one place alone is written as a place."""
    numbers = [number + 0.0 for place in places for number in place]
    head = struct.pack("<BI", 1, 1) if len(places) == 1 else struct.pack("<BII", 1, 2, len(places))
    return (head + struct.pack(f"<{len(numbers)}d", *numbers)).hex().upper()


Value: TypeAlias = int | float | str | bool | Decimal | datetime | Point | Line | Term | None
"""What one attribute of one tuple holds. A `time` is an integer number of ticks."""

INTEGER_MIN = -(2**63)
INTEGER_MAX = 2**63 - 1
DIGITS = 38
"""Digits of a decimal, and the most places before and behind its point."""


class Type(Enum):
    """The type of an attribute or an expression."""

    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    STRING = "string"
    BOOLEAN = "boolean"
    TIME = "time"
    TIMESTAMP = "timestamp"
    POINT = "point"
    LINE = "line"
    TERM = "term"
    """A term of RDF: an IRI, a blank node or a literal."""
    NULL = "null"

    def __str__(self) -> str:
        return self.value

    @property
    def is_number(self) -> bool:
        """Whether arithmetic works on it as on a number (a time is an instant, not a number)."""
        return self in (Type.INTEGER, Type.FLOAT, Type.DECIMAL, Type.NULL)


DECLARABLE = tuple(t for t in Type if t not in (Type.NULL, Type.POINT, Type.LINE, Type.TERM))
"""The types that a catalog may give to an attribute."""

TYPE_SYNONYMS = {
    **dict.fromkeys(("int", "long", "bigint", "smallint"), "integer"),
    **dict.fromkeys(("double", "real", "number"), "float"),
    **dict.fromkeys(("text", "varchar", "char", "str"), "string"),
    "bool": "boolean",
    "numeric": "decimal",
    **dict.fromkeys(("datetime", "instant", "date"), "timestamp"),
}
"""What other systems call our types, for hints."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")

_WIDTH = {Type.INTEGER: 0, Type.DECIMAL: 1, Type.FLOAT: 2}


def common_type(left: Type, right: Type) -> Type | None:
    """The type that holds values of both, or None: NULL gives way, integer widens to decimal to float.

    >>> common_type(Type.INTEGER, Type.FLOAT)
    <Type.FLOAT: 'float'>
    """
    if left is right or right is Type.NULL:
        return left
    if left is Type.NULL:
        return right
    if left in _WIDTH and right in _WIDTH:
        return left if _WIDTH[left] > _WIDTH[right] else right
    if {left, right} == {Type.TIME, Type.INTEGER}:
        return Type.TIME
    return None


def fits(value: Value, kind: Type) -> bool:
    """Whether a Python value is a proper value of a type; NULL is one of every type."""
    if value is None:
        return True
    match kind:
        case Type.INTEGER | Type.TIME:
            return type(value) is int and INTEGER_MIN <= value <= INTEGER_MAX
        case Type.FLOAT:
            return type(value) is float and math.isfinite(value)
        case Type.DECIMAL:
            return isinstance(value, Decimal) and value.is_finite() and _in_reach(value)
        case Type.STRING:
            return isinstance(value, str)
        case Type.TERM:
            return isinstance(value, Term)
        case Type.BOOLEAN:
            return isinstance(value, bool)
        case Type.TIMESTAMP:
            return isinstance(value, datetime) and value.tzinfo is not None
        case Type.POINT:
            return isinstance(value, Point) and all(map(math.isfinite, value))
        case Type.LINE:
            return isinstance(value, Line) and all(fits(point, Type.POINT) for point in value)
        case Type.NULL:
            return False


def plain_number(number: float) -> str:
    """A coordinate as geometries are written: no exponent, and no point where it is a whole number.

    >>> plain_number(26.0), plain_number(1e-7)
    ('26', '0.0000001')
    """
    text = format(Decimal(repr(number + 0.0)), "f")
    return text.removesuffix(".0")


def _in_reach(number: Decimal) -> bool:
    _, digits, exponent = number.as_tuple()
    return isinstance(exponent, int) and len(digits) <= DIGITS and -DIGITS <= exponent <= DIGITS


def one_form(number: Decimal) -> Decimal:
    """The same decimal without needless zeros at its end, so that equal decimals are the same; 1.50 is 1.5."""
    if not number:
        return Decimal(0)
    sign, digits, exponent = number.as_tuple()
    kept = len(digits)
    while kept > 1 and digits[kept - 1] == 0:
        kept -= 1
    return Decimal((sign, digits[:kept], int(exponent) + len(digits) - kept))


def tidy(value: object, kind: Type) -> Value:
    """A Python value as a value of a type: widened where nothing is lost, NULL for NaN; ValueError otherwise.

    >>> tidy(3, Type.FLOAT)
    3.0
    """
    if value is None or (isinstance(value, float | Decimal) and value != value):
        return None
    try:
        value = _widened(value, kind)
    except OverflowError:
        raise ValueError(f"{value!r} is not of type {kind}") from None
    if isinstance(value, int | float | str | bool | Decimal | datetime) and fits(value, kind):
        return value
    raise ValueError(f"{value!r} is not of type {kind}")


def _widened(value: object, kind: Type) -> object:
    """The value itself, or the same number or instant as the type wants it."""
    if isinstance(value, float) and kind is Type.FLOAT:
        return value + 0.0  # -0.0 is 0.0
    if isinstance(value, Decimal) and kind is Type.DECIMAL and value.is_finite():
        return one_form(value)
    if kind is Type.FLOAT and isinstance(value, int | Decimal) and not isinstance(value, bool):
        return float(value)
    if kind is Type.DECIMAL and isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if kind is Type.DECIMAL and isinstance(value, float):
        return one_form(Decimal(repr(value)))
    if kind in (Type.INTEGER, Type.TIME) and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is Type.TIMESTAMP and isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


def read_text(text: str, kind: Type) -> Value:
    """A value of a type from the text in a CSV cell or a CAST; ValueError where it says no such value."""
    words = text.strip()
    match kind:
        case Type.STRING:
            return text
        case Type.INTEGER | Type.TIME if _WHOLE.fullmatch(words):
            return tidy(int(words), kind)
        case Type.FLOAT | Type.DECIMAL if words.lower() == "nan":
            return None
        case Type.FLOAT if _NUMBER.fullmatch(words):
            return tidy(float(words), kind)
        case Type.DECIMAL if _NUMBER.fullmatch(words):
            return tidy(Decimal(words), kind)
        case Type.BOOLEAN if words.lower() in ("true", "false"):
            return words.lower() == "true"
        case Type.TIMESTAMP:
            return tidy(datetime.fromisoformat(words), kind)
        case _:
            raise ValueError(f"{text!r} is not of type {kind}")
