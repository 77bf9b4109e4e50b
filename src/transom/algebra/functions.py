"""The scalar functions and operators that expressions may call, with their signatures.

A signature lists exact types; `resolve` widens arguments to the cheapest one that takes them (integer to decimal to
float, NULL to anything, integer to time). A function is strict unless it says otherwise: NULL in, NULL out. An
operation without an answer (x / 0, an integer beyond 64 bits, the root of a negative number) gives NULL.

A measure says how far places are apart: the micrometres of one coordinate unit on the plane, or 0 for longitude and
latitude on WGS 84. Ways are measured in whole micrometres (E9) and given in metres; to a latitude beyond a pole, or a
longitude beyond a full turn, there is none: NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from transom.errors import TypeProblem
from transom.model.types import DECLARABLE, Type

B, I, F, D, S, T, TS, P, L = (  # noqa: E741
    Type.BOOLEAN,
    Type.INTEGER,
    Type.FLOAT,
    Type.DECIMAL,
    Type.STRING,
    Type.TIME,
    Type.TIMESTAMP,
    Type.POINT,
    Type.LINE,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of the arguments and of the result; with `repeats`, the last argument may come any number of times."""

    arguments: tuple[Type, ...]
    result: Type
    repeats: bool = False

    def expand(self, count: int) -> tuple[Type, ...] | None:
        """The argument types for so many arguments, or None if it does not take so many."""
        if self.repeats and count >= len(self.arguments):
            return self.arguments + self.arguments[-1:] * (count - len(self.arguments))
        return self.arguments if count == len(self.arguments) else None

    def __str__(self) -> str:
        dots = ", ..." if self.repeats else ""
        return f"({', '.join(map(str, self.arguments))}{dots}) -> {self.result}"


Family: TypeAlias = Literal["values", "places", "terms"]


@dataclass(frozen=True, slots=True)
class Function:
    """One scalar function: its name as written, what it means, and how it treats NULL.

    Names are unique within a family. A volatile function depends on more than its arguments (R28).
    """

    name: str
    signatures: tuple[Signature, ...] = field(compare=False)
    meaning: str = field(compare=False)
    group: str = field(compare=False)
    infix: bool = field(default=False, compare=False)
    strict: bool = field(default=True, compare=False)
    family: Family = "values"
    volatile: bool = field(default=False, compare=False)

    def result(self, given: tuple[Type, ...]) -> Type | None:
        """The type of the result for exactly these types of arguments, or None if no signature has them."""
        return next((s.result for s in self.signatures if s.expand(len(given)) == given), None)


FUNCTIONS: dict[str, Function] = {}
SPACE_FUNCTIONS: dict[str, Function] = {}
"""Functions on places, which only languages with places offer; `resolve` knows them too."""


def _add(
    group: str,
    name: str,
    meaning: str,
    *signatures: Signature,
    infix: bool = False,
    strict: bool = True,
) -> None:
    FUNCTIONS[name] = Function(name, signatures, meaning, group, infix, strict)


def _each(kinds: Iterable[Type], count: int, result: Type | None = None, repeats: bool = False) -> list[Signature]:
    """One signature per type, all arguments of that type."""
    return [Signature((kind,) * count, result or kind, repeats) for kind in kinds]


NUMBERS = (I, D, F)
_ORDERED = (I, D, F, S, T, TS, B)

_add("logic", "AND", "true if all are true", Signature((B, B), B, True), infix=True, strict=False)
_add("logic", "OR", "true if one is true", Signature((B, B), B, True), infix=True, strict=False)
_add("logic", "NOT", "true if false", Signature((B,), B))
_add("logic", "IS NULL", "whether there is no value; never NULL itself", *_each(DECLARABLE, 1, B), strict=False)
for _name, _meaning in [
    ("=", "equal"),
    ("<>", "not equal"),
    ("<", "less than"),
    ("<=", "at most"),
    (">", "greater than"),
    (">=", "at least"),
]:
    _add("comparison", _name, _meaning, *_each(_ORDERED, 2, B), infix=True)
_add("comparison", "IN", "equal to one of the values that follow", *_each(_ORDERED, 2, B, True), strict=False)
_add(
    "comparison",
    "LIKE",
    "matches a pattern with % (any characters) and _ (one)",
    Signature((S, S), B),
    infix=True,
)
_add(
    "arithmetic", "+", "sum; a time and a number of ticks give a time",
    *_each(NUMBERS, 2), Signature((T, I), T), Signature((I, T), T), infix=True,
)  # fmt: skip
_add(
    "arithmetic", "-", "difference; two times give ticks, two timestamps give seconds",
    *_each(NUMBERS, 2), Signature((T, I), T), Signature((T, T), I), Signature((TS, TS), F), infix=True,
)  # fmt: skip
_add("arithmetic", "*", "product", *_each(NUMBERS, 2), infix=True)
_add("arithmetic", "/", "quotient, always a float; NULL for a divisor of 0", Signature((F, F), F), infix=True)
_add(
    "arithmetic",
    "%",
    "remainder with the sign of the dividend; NULL for a divisor of 0",
    Signature((I, I), I),
    infix=True,
)
_add("arithmetic", "NEG", "the number with the other sign", *_each(NUMBERS, 1))
_add("numbers", "ABS", "size without sign", *_each(NUMBERS, 1))
_add("numbers", "SIGN", "-1, 0 or 1", *_each(NUMBERS, 1, I))
_add("numbers", "FLOOR", "largest whole number not above", *_each(NUMBERS, 1, I))
_add("numbers", "CEIL", "smallest whole number not below", *_each(NUMBERS, 1, I))
_add("numbers", "ROUND", "to so many decimal places (0 if not given), halves away from zero; a decimal stays a decimal",
     *(Signature((kind, *places), D if kind is D else F) for kind in (F, D, I) for places in ((), (I,))))  # fmt: skip
_add(
    "numbers",
    "DIV",
    "quotient of whole numbers, cut off towards zero; NULL for a divisor of 0",
    Signature((I, I), I),
)
_add("numbers", "SQRT", "square root; NULL below 0", Signature((F,), F))
_add("numbers", "POWER", "x to the power of y; the last digit is the platform's", Signature((F, F), F))
_add("numbers", "EXP", "e to the power of x; the last digit is the platform's", Signature((F,), F))
_add("numbers", "LN", "natural logarithm; NULL for 0 and below; the last digit is the platform's", Signature((F,), F))
_add(
    "numbers",
    "LOG10",
    "logarithm to base 10; NULL for 0 and below; the last digit is the platform's",
    Signature((F,), F),
)
_add(
    "choice",
    "GREATEST",
    "the largest of the values that are not NULL",
    *_each(_ORDERED, 1, None, True),
    strict=False,
)
_add(
    "choice",
    "LEAST",
    "the smallest of the values that are not NULL",
    *_each(_ORDERED, 1, None, True),
    strict=False,
)
_add("choice", "COALESCE", "the first value that is not NULL", *_each(_ORDERED, 1, None, True), strict=False)
_add("choice", "NULLIF", "NULL if both are equal, else the first", *_each(_ORDERED, 2), strict=False)
_add("strings", "||", "one string after the other", Signature((S, S), S), infix=True)
_add("strings", "CONCAT", "all strings one after the other", Signature((S,), S, True))
_add("strings", "UPPER", "in upper case", Signature((S,), S))
_add("strings", "LOWER", "in lower case", Signature((S,), S))
_add("strings", "LENGTH", "number of characters", Signature((S,), I))
_add("strings", "TRIM", "without blanks at both ends", Signature((S,), S))
_add("strings", "LTRIM", "without blanks at the start", Signature((S,), S))
_add("strings", "RTRIM", "without blanks at the end", Signature((S,), S))
_add("strings", "SUBSTRING", "from a position (the first is 1), so many characters or to the end",
     Signature((S, I), S), Signature((S, I, I), S))  # fmt: skip
_add("strings", "LEFT", "the first so many characters", Signature((S, I), S))
_add("strings", "RIGHT", "the last so many characters", Signature((S, I), S))
_add(
    "strings",
    "REPLACE",
    "every occurrence of the second string replaced by the third",
    Signature((S, S, S), S),
)
_add(
    "strings",
    "POSITION",
    "where the second string begins in the first, from 1; 0 if nowhere",
    Signature((S, S), I),
)
_add("strings", "STARTS_WITH", "whether the first string begins with the second", Signature((S, S), B))
_add("strings", "ENDS_WITH", "whether the first string ends with the second", Signature((S, S), B))
_add(
    "time",
    "INSTANT",
    "the instant at which a tick begins: tick, length of a tick, epoch",
    Signature((T, I, TS), TS),
)
_add(
    "time",
    "TICK",
    "the tick that an instant lies in: instant, length of a tick, epoch",
    Signature((TS, I, TS), T),
)
for _name in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
    _add("time", _name, f"the {_name.lower()} of an instant (UTC)", Signature((TS,), I))


def _in_space(name: str, meaning: str, *signatures: Signature) -> None:
    SPACE_FUNCTIONS[name] = Function(name, signatures, meaning, "space", family="places")


_in_space(
    "POINT",
    "the place with two coordinates, longitude first, or with one on a line; on the globe NULL beyond a pole: "
    "x, y, measure",
    Signature((F,), P),
    Signature((F, F), P),
    Signature((F, F, I), P),
)
_in_space("X", "the first coordinate of a place", Signature((P,), F))
_in_space("Y", "the second coordinate of a place", Signature((P,), F))
_in_space("DISTANCE", "how far two places are apart, in metres: place, place, measure", Signature((P, P, I), F))
_in_space(
    "WITHIN",
    "whether two places are at most so many micrometres apart: place, place, micrometres, measure",
    Signature((P, P, I, I), B),
)
_in_space(
    "SPEED",
    "the speed in km/h from one place and tick to another; NULL in no time: "
    "place, tick, place, tick, measure, microseconds of a tick",
    Signature((P, I, P, I, I, I), F),
)
_in_space(
    "HEADING",
    "the direction from one place to another in degrees, 0 north, 90 east; NULL for no way; the last digit is the "
    "platform's: place, place, measure",
    Signature((P, P, I), F),
)
_in_space("WKT", "the well-known text of a place or a line", Signature((P,), S), Signature((L,), S))
_in_space(
    "WKB",
    "the well-known binary of a place or a line, least byte first, as hexadecimal digits",
    Signature((P,), S),
    Signature((L,), S),
)

_COST = {(I, D): 2, (I, F): 3, (D, F): 3, (I, T): 4}


def widening_cost(given: Type, wanted: Type) -> int | None:
    """What it costs to use a value of one type where another is wanted; None if it cannot be used there."""
    if given is wanted:
        return 0
    return 1 if given is Type.NULL else _COST.get((given, wanted))


def resolve(name: str, given: Sequence[Type]) -> tuple[Function, tuple[Type, ...], Type]:
    """The function, the types its arguments must be widened to, and the type of its result."""
    function = FUNCTIONS.get(name) or SPACE_FUNCTIONS[name]
    best: tuple[int, tuple[Type, ...], Type] | None = None
    for signature in function.signatures:
        wanted = signature.expand(len(given))
        if wanted is None:
            continue
        costs = [widening_cost(g, w) for g, w in zip(given, wanted, strict=True)]
        total = sum(c for c in costs if c is not None)
        if None not in costs and (best is None or total < best[0]):
            best = (total, wanted, signature.result)
    if best is None:
        offered = " or ".join(dict.fromkeys(str(s) for s in function.signatures))
        hint = "both sides need one type; CAST one of them" if function.group == "comparison" else f"it takes {offered}"
        raise TypeProblem(f"{name} does not take ({', '.join(map(str, given))})", hint=hint)
    return function, best[1], best[2]
