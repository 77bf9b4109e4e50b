"""What literals stand for: numbers, truth values, strings, instants, durations; and the other way round.

A literal that is not well-formed for its datatype, or has a datatype that nobody knows, stands for nothing known.
Integers have at most 38 digits, decimals at most 20 before the point and 18 behind it (XML Schema lets every processor
set such limits): a literal that goes beyond stands for nothing known, a result that does is an error.
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
from transom.model.rdf.times import Instant, Span, read_instant, read_span

DIGITS = 38
PLACES = 18
WHOLE = r"[+-]?0{0,99}[0-9]{1,38}"
POINT = r"[+-]?0{0,99}(?:[0-9]{1,20}(?:\.[0-9]{0,18}0{0,99})?|\.[0-9]{1,18}0{0,99})"
FLOATING = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"
_WHOLE, _POINT, _FLOATING = re.compile(WHOLE), re.compile(POINT), re.compile(FLOATING)


class Kind(IntEnum):
    """The four kinds of numbers; of two kinds the later one is what both become."""

    INTEGER = 1
    DECIMAL = 2
    FLOAT = 3
    DOUBLE = 4


@dataclass(frozen=True, slots=True)
class Number:
    """A number: exact as integer or decimal, else in floating point of 32 or 64 bits."""

    kind: Kind
    value: int | Decimal | float

    def as_float(self) -> float:
        """The number in floating point."""
        return float(self.value)

    def to(self, kind: Kind) -> Number:
        """The same number as another kind."""
        match kind:
            case Kind.INTEGER:
                return Number(kind, int(self.value))
            case Kind.DECIMAL:
                return Number(kind, self.value if isinstance(self.value, Decimal) else Decimal(self.value))
            case Kind.FLOAT:
                return Number(kind, single(float(self.value)))
            case Kind.DOUBLE:
                return Number(kind, float(self.value))


@dataclass(frozen=True, slots=True)
class Text:
    """A string, with the tag of its language if it has one."""

    text: str
    language: str = ""


Value: TypeAlias = Number | Text | bool | Instant | Span
"""What a literal can stand for."""

_DATATYPES = {Kind.INTEGER: INTEGER, Kind.DECIMAL: DECIMAL, Kind.FLOAT: FLOAT, Kind.DOUBLE: DOUBLE}
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
"""Integer and the datatypes derived from it, each with its least and its greatest value."""

NUMERIC = frozenset((*RANGES, DECIMAL, FLOAT, DOUBLE))
KNOWN = NUMERIC | {STRING, LANG_STRING, BOOLEAN, DATE_TIME, DATE, TIME, DURATION, DAY_TIME, YEAR_MONTH}


def value_of(literal: Literal) -> Value | None:
    """What a literal stands for, or None where that is not known."""
    text, datatype = literal.lexical, literal.datatype
    if datatype == STRING:
        return Text(text)
    if datatype == LANG_STRING:
        return Text(text, literal.language)
    if datatype not in KNOWN:
        return None
    words = text.strip(" \t\r\n")
    if datatype == BOOLEAN:
        return {"true": True, "1": True, "false": False, "0": False}.get(words)
    if datatype in NUMERIC:
        return read_number(words, datatype)
    if datatype in (DATE_TIME, DATE, TIME):
        return read_instant(words, datatype)
    return read_span(words, datatype)


def read_number(words: str, datatype: str) -> Number | None:
    """A number from its characters, or None where they are not those of the datatype."""
    if datatype in RANGES:
        if not _WHOLE.fullmatch(words):
            return None
        least, greatest = RANGES[datatype]
        value = int(words)
        inside = (least is None or least <= value) and (greatest is None or value <= greatest)
        return Number(Kind.INTEGER, value) if inside else None
    if datatype == DECIMAL:
        return Number(Kind.DECIMAL, Decimal(words) or Decimal(0)) if _POINT.fullmatch(words) else None
    if not _FLOATING.fullmatch(words):
        return None
    value64 = float(words.replace("INF", "inf"))
    return Number(Kind.FLOAT, single(value64)) if datatype == FLOAT else Number(Kind.DOUBLE, value64)


def single(value: float) -> float:
    """The nearest number of 32 bits; beyond their reach, infinity."""
    if math.isnan(value) or math.isinf(value):
        return value
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def nearest(exact: Fraction, kind: Kind) -> float:
    """The number of 32 or 64 bits that is nearest to an exact one; beyond their reach, infinity.

    On the way to 32 bits, what 64 bits cannot hold is kept as an odd last bit, so that the number is rounded once.
    """
    try:
        value = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if kind is Kind.DOUBLE:
        return value
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    if value != exact and bits % 2 == 0:
        value = math.nextafter(value, math.inf if exact > value else -math.inf)
    return single(value)


def in_reach(number: Number) -> Number | None:
    """An exact number within its digits, cut behind the 18th place; None beyond."""
    if isinstance(number.value, int):
        return number if abs(number.value) < 10**DIGITS else None
    if isinstance(number.value, Decimal):
        with localcontext() as context:
            context.prec = 4 * DIGITS
            cut = number.value.quantize(Decimal(1).scaleb(-PLACES), rounding=ROUND_DOWN)
        return Number(number.kind, cut) if abs(cut) < Decimal(10) ** (DIGITS - PLACES) else None
    return number


def number_literal(number: Number) -> Literal:
    """A number as a literal in canonical form."""
    return Literal(canonical(number), _DATATYPES[number.kind])


def canonical(number: Number) -> str:
    """The canonical characters of a number: 7, 2.5, 1.0E2, -0.0E0, INF, NaN.

    >>> canonical(Number(Kind.DOUBLE, 150.0)), canonical(Number(Kind.DECIMAL, Decimal("2.50")))
    ('1.5E2', '2.5')
    """
    if isinstance(number.value, int):
        return str(number.value)
    if isinstance(number.value, Decimal):
        return plain(number.value)
    value = number.value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(shortest(number)).as_tuple()
    figures = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - 1 if value else 0
    return f"{'-' if sign else ''}{figures[0]}.{figures[1:] or '0'}E{power}"


def shortest(number: Number) -> str:
    """The fewest digits that are read as the same number again."""
    value = float(number.value)
    if number.kind is Kind.DOUBLE:
        return repr(value)
    return next(text for places in range(1, 10) if single(float(text := f"{value:.{places}g}")) == value)


def plain(value: Decimal) -> str:
    """A decimal without needless zeros: 2.5, 2, 0."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def as_text(number: Number) -> str:
    """A number as a cast to a string writes it: floating point without an exponent where it is not too far from 1."""
    if not isinstance(number.value, float):
        return canonical(number)
    size = abs(number.value)
    if size and 1e-6 <= size < 1e6:
        return plain(Decimal(shortest(number)))
    if not size:
        return "-0" if math.copysign(1, number.value) < 0 else "0"
    return canonical(number)
