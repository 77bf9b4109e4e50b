"""Values of literals: numbers, booleans, strings, instants and durations, and literals of numbers.

A literal that is ill-formed for its datatype, or has an unknown datatype, has no known value. Integers have at most 38
digits, decimals at most 20 before the decimal point and 18 after it (XML Schema lets every processor set such limits):
a literal beyond them has no known value, and a result beyond them is an error.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, localcontext
from enum import IntEnum
from fractions import Fraction
from typing import TypeAlias

from transom.model.rdf.terms import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DAY_TIME,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    INTEGER,
    LANG_STRING,
    STRING,
    TIME,
    XSD,
    YEAR_MONTH,
    Literal,
)
from transom.model.rdf.times import Instant, XsdDuration, read_instant, read_xsd_duration

DIGITS = 38
PLACES = 18
WHOLE = r"[+-]?0{0,99}[0-9]{1,38}"
POINT = r"[+-]?0{0,99}(?:[0-9]{1,20}(?:\.[0-9]{0,18}0{0,99})?|\.[0-9]{1,18}0{0,99})"
FLOATING = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"
_WHOLE, _POINT, _FLOATING = re.compile(WHOLE), re.compile(POINT), re.compile(FLOATING)


class NumericKind(IntEnum):
    """The four kinds of numbers in order of promotion: two kinds promote to the later one."""

    INTEGER = 1
    DECIMAL = 2
    FLOAT = 3
    DOUBLE = 4


@dataclass(frozen=True, slots=True)
class NumericValue:
    """A number: exact as an integer or decimal, otherwise floating point of 32 or 64 bits."""

    kind: NumericKind
    value: int | Decimal | float

    def as_float(self) -> float:
        """The number as a 64-bit float, rounded if necessary."""
        return float(self.value)

    def to(self, kind: NumericKind) -> NumericValue:
        """Convert the number to another numeric type, as casts and operators do; for FLOAT it is rounded to 32 bits."""
        match kind:
            case NumericKind.INTEGER:
                return NumericValue(kind, int(self.value))
            case NumericKind.DECIMAL:
                return NumericValue(kind, self.value if isinstance(self.value, Decimal) else Decimal(self.value))
            case NumericKind.FLOAT:
                return NumericValue(kind, to_float32(float(self.value)))
            case NumericKind.DOUBLE:
                return NumericValue(kind, float(self.value))


@dataclass(frozen=True, slots=True)
class StringValue:
    """A string, with its language tag if it has one."""

    text: str
    language: str = ""


Value: TypeAlias = NumericValue | StringValue | bool | Instant | XsdDuration
"""The value of a literal."""

_DATATYPES = {
    NumericKind.INTEGER: INTEGER,
    NumericKind.DECIMAL: DECIMAL,
    NumericKind.FLOAT: FLOAT,
    NumericKind.DOUBLE: DOUBLE,
}
RANGES: dict[str, tuple[int | None, int | None]] = {
    INTEGER: (None, None),
    XSD + "nonPositiveInteger": (None, 0),
    XSD + "negativeInteger": (None, -1),
    XSD + "nonNegativeInteger": (0, None),
    XSD + "positiveInteger": (1, None),
    **{XSD + name: (-(2**bits), 2**bits - 1) for name, bits in (("long", 63), ("int", 31), ("short", 15), ("byte", 7))},
    **{
        XSD + "unsigned" + name: (0, 2**bits - 1)
        for name, bits in (("Long", 64), ("Int", 32), ("Short", 16), ("Byte", 8))
    },
}
"""xsd:integer and the datatypes derived from it, each with its minimum and maximum."""

NUMERIC = frozenset((*RANGES, DECIMAL, FLOAT, DOUBLE))
SUPPORTED_DATATYPES = NUMERIC | {
    *(STRING, LANG_STRING, BOOLEAN),
    *(DATE_TIME, DATE, TIME, DURATION, DAY_TIME, YEAR_MONTH),
}
"""The datatypes whose literals have a value; all others are unknown."""


def value_of(literal: Literal) -> Value | None:
    """Parse a literal's text to its value; None if it is ill-formed or its datatype is not supported."""
    text, datatype = literal.lexical, literal.datatype
    if datatype == STRING:
        return StringValue(text)
    if datatype == LANG_STRING:
        return StringValue(text, literal.language)
    if datatype not in SUPPORTED_DATATYPES:
        return None
    stripped = text.strip(" \t\r\n")
    if datatype == BOOLEAN:
        return {"true": True, "1": True, "false": False, "0": False}.get(stripped)
    if datatype in NUMERIC:
        return read_number(stripped, datatype)
    if datatype in (DATE_TIME, DATE, TIME):
        return read_instant(stripped, datatype)
    return read_xsd_duration(stripped, datatype)


def read_number(text: str, datatype: str) -> NumericValue | None:
    """Parse the text of a literal with a numeric datatype; None if it is malformed or out of range."""
    if datatype in RANGES:
        if not _WHOLE.fullmatch(text):
            return None
        minimum, maximum = RANGES[datatype]
        value = int(text)
        in_range = (minimum is None or minimum <= value) and (maximum is None or value <= maximum)
        return NumericValue(NumericKind.INTEGER, value) if in_range else None
    if datatype == DECIMAL:
        return NumericValue(NumericKind.DECIMAL, Decimal(text) or Decimal(0)) if _POINT.fullmatch(text) else None
    if not _FLOATING.fullmatch(text):
        return None
    floating = float(text.replace("INF", "inf"))
    return (
        NumericValue(NumericKind.FLOAT, to_float32(floating))
        if datatype == FLOAT
        else NumericValue(NumericKind.DOUBLE, floating)
    )


def to_float32(value: float) -> float:
    """Round a 64-bit float to the nearest 32-bit float; infinity if out of range."""
    if math.isnan(value) or math.isinf(value):
        return value
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def to_floating_point(exact: Fraction, kind: NumericKind) -> float:
    """Round an exact fraction once, to the nearest 32- or 64-bit float by `kind`; infinity if it is out of range.

    On the way to 32 bits, a remainder that 64 bits cannot hold is kept as an odd last bit, so that the number is
    rounded once.
    """
    try:
        value = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if kind is NumericKind.DOUBLE:
        return value
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    if value != exact and bits % 2 == 0:
        value = math.nextafter(value, math.inf if exact > value else -math.inf)
    return to_float32(value)


def fit_decimal(number: NumericValue) -> NumericValue | None:
    """Truncate a decimal after its 18th decimal place; None if it has too many digits. Floats stay unchanged."""
    if isinstance(number.value, int):
        return number if abs(number.value) < 10**DIGITS else None
    if isinstance(number.value, Decimal):
        with localcontext() as context:
            context.prec = 4 * DIGITS
            truncated = number.value.quantize(Decimal(1).scaleb(-PLACES), rounding=ROUND_DOWN)
        return NumericValue(number.kind, truncated) if abs(truncated) < Decimal(10) ** (DIGITS - PLACES) else None
    return number


def number_literal(number: NumericValue) -> Literal:
    """Create the literal of a number, with its canonical text and the datatype of its kind."""
    return Literal(canonical_number(number), _DATATYPES[number.kind])


def canonical_number(number: NumericValue) -> str:
    """Format a number in its canonical form, such as 7, 2.5, 1.0E2, -0.0E0, INF or NaN.

    >>> double, decimal = NumericValue(NumericKind.DOUBLE, 150.0), NumericValue(NumericKind.DECIMAL, Decimal("2.50"))
    >>> canonical_number(double), canonical_number(decimal)
    ('1.5E2', '2.5')
    """
    if isinstance(number.value, int):
        return str(number.value)
    if isinstance(number.value, Decimal):
        return plain_decimal(number.value)
    value = number.value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(shortest_digits(number)).as_tuple()
    figures = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - 1 if value else 0
    return f"{'-' if sign else ''}{figures[0]}.{figures[1:] or '0'}E{power}"


def shortest_digits(number: NumericValue) -> str:
    """Format a float with the fewest digits that parse to the same number, of 32 bits for FLOAT, else of 64."""
    value = float(number.value)
    if number.kind is NumericKind.DOUBLE:
        return repr(value)
    return next(text for digits in range(1, 10) if to_float32(float(text := f"{value:.{digits}g}")) == value)


def plain_decimal(value: Decimal) -> str:
    """Format a decimal without exponent and trailing zeros, such as 2.5, 2 or 0."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def number_as_string(number: NumericValue) -> str:
    """Format a number as a cast to xsd:string does: floats from 1e-6 up to 1e6 have no exponent."""
    if not isinstance(number.value, float):
        return canonical_number(number)
    size = abs(number.value)
    if size and 1e-6 <= size < 1e6:
        return plain_decimal(Decimal(shortest_digits(number)))
    if not size:
        return "-0" if math.copysign(1, number.value) < 0 else "0"
    return canonical_number(number)
