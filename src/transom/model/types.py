"""The types of values, and the Python values that carry them.

The documents define integer, float, string and time; boolean, timestamp and decimal are additions (E13). NULL is a
value of every type; the literal NULL has the type NULL until its context gives it another. Points and lines are built
from the positions of rows and are never declared: the catalog says which columns hold a position.
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
    """A point: coordinates on the plane, or longitude and latitude."""

    x: float
    y: float

    def __str__(self) -> str:
        """The point as well-known text (WKT)."""
        return f"POINT ({plain_number(self.x)} {plain_number(self.y)})"


class Line(tuple[Point, ...]):
    """A sequence of points; a single point is a line too."""

    __slots__ = ()

    def __str__(self) -> str:
        """The line as well-known text (WKT): a LINESTRING, or a POINT if it has one point."""
        if len(self) == 1:
            return str(self[0])
        return "LINESTRING (" + ", ".join(f"{plain_number(p.x)} {plain_number(p.y)}" for p in self) + ")"


def wkb(points: Sequence[tuple[float, float]]) -> str:
    """Encode a line as well-known binary (WKB): hexadecimal, little-endian; a single point is encoded as a point."""
    coordinates = [coordinate + 0.0 for point in points for coordinate in point]
    head = struct.pack("<BI", 1, 1) if len(points) == 1 else struct.pack("<BII", 1, 2, len(points))
    return (head + struct.pack(f"<{len(coordinates)}d", *coordinates)).hex().upper()


Value: TypeAlias = int | float | str | bool | Decimal | datetime | Point | Line | Term | None
"""The value of one attribute of one tuple. A `time` is an integer number of ticks."""

INTEGER_MIN = -(2**63)
INTEGER_MAX = 2**63 - 1
DIGITS = 38
"""The most digits of a decimal, and the limit of its exponent in both directions."""


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
    """An RDF term: an IRI, a blank node or a literal."""
    NULL = "null"

    def __str__(self) -> str:
        """The name of the type in catalogs and queries."""
        return self.value

    @property
    def is_number(self) -> bool:
        """Whether the type is numeric: integer, float, decimal or NULL, but not a timestamp."""
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
"""Type names of other systems with ours, for hints."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")

_WIDTH = {Type.INTEGER: 0, Type.DECIMAL: 1, Type.FLOAT: 2}


def common_type(left: Type, right: Type) -> Type | None:
    """Return the type to which values of both types can be widened, or None; NULL can be widened to every type.

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


def is_value_of(value: Value, kind: Type) -> bool:
    """Whether a Python value belongs to a type and is within its range; None, which is NULL, belongs to every type."""
    if value is None:
        return True
    match kind:
        case Type.INTEGER | Type.TIME:
            return type(value) is int and INTEGER_MIN <= value <= INTEGER_MAX
        case Type.FLOAT:
            return type(value) is float and math.isfinite(value)
        case Type.DECIMAL:
            return isinstance(value, Decimal) and value.is_finite() and _fits_decimal(value)
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
            return isinstance(value, Line) and all(is_value_of(point, Type.POINT) for point in value)
        case Type.NULL:
            return False


def plain_number(number: float) -> str:
    """Format a coordinate for well-known text: without exponent, and without a decimal point if it is whole.

    >>> plain_number(26.0), plain_number(1e-7)
    ('26', '0.0000001')
    """
    text = format(Decimal(repr(number + 0.0)), "f")
    return text.removesuffix(".0")


def _fits_decimal(number: Decimal) -> bool:
    """Whether a decimal has at most 38 digits and an exponent from -38 to 38."""
    _, digits, exponent = number.as_tuple()
    return isinstance(exponent, int) and len(digits) <= DIGITS and -DIGITS <= exponent <= DIGITS


def normalize_decimal(number: Decimal) -> Decimal:
    """Remove the trailing zeros of a decimal, so that equal decimals are written alike: 1.50 becomes 1.5."""
    if not number:
        return Decimal(0)
    sign, digits, exponent = number.as_tuple()
    significant = len(digits)
    while significant > 1 and digits[significant - 1] == 0:
        significant -= 1
    return Decimal((sign, digits[:significant], int(exponent) + len(digits) - significant))


def coerce_value(value: object, kind: Type) -> Value:
    """Convert a Python value to a value of a type; raise ValueError if it does not fit. None and NaN become NULL.

    >>> coerce_value(3, Type.FLOAT)
    3.0
    """
    if value is None or (isinstance(value, float | Decimal) and value != value):
        return None
    try:
        value = _widened(value, kind)
    except OverflowError:
        raise ValueError(f"{value!r} is not of type {kind}") from None
    if isinstance(value, int | float | str | bool | Decimal | datetime) and is_value_of(value, kind):
        return value
    raise ValueError(f"{value!r} is not of type {kind}")


def _widened(value: object, kind: Type) -> object:
    """Convert a number or timestamp to the Python class that represents `kind`; other values stay unchanged."""
    if isinstance(value, float) and kind is Type.FLOAT:
        return value + 0.0  # -0.0 is 0.0
    if isinstance(value, Decimal) and kind is Type.DECIMAL and value.is_finite():
        return normalize_decimal(value)
    if kind is Type.FLOAT and isinstance(value, int | Decimal) and not isinstance(value, bool):
        return float(value)
    if kind is Type.DECIMAL and isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if kind is Type.DECIMAL and isinstance(value, float):
        return normalize_decimal(Decimal(repr(value)))
    if kind in (Type.INTEGER, Type.TIME) and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is Type.TIMESTAMP and isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


def parse_value(text: str, kind: Type) -> Value:
    """Parse the text of a CSV field or of a CAST to a value of a type; raise ValueError if it is malformed."""
    stripped = text.strip()
    match kind:
        case Type.STRING:
            return text
        case Type.INTEGER | Type.TIME if _WHOLE.fullmatch(stripped):
            return coerce_value(int(stripped), kind)
        case Type.FLOAT | Type.DECIMAL if stripped.lower() == "nan":
            return None
        case Type.FLOAT if _NUMBER.fullmatch(stripped):
            return coerce_value(float(stripped), kind)
        case Type.DECIMAL if _NUMBER.fullmatch(stripped):
            return coerce_value(Decimal(stripped), kind)
        case Type.BOOLEAN if stripped.lower() in ("true", "false"):
            return stripped.lower() == "true"
        case Type.TIMESTAMP:
            return coerce_value(datetime.fromisoformat(stripped), kind)
        case _:
            raise ValueError(f"{text!r} is not of type {kind}")
