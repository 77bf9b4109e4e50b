"""The scalar functions and operators that expressions may call, with their signatures.

A signature lists exact types; `resolve` widens arguments to the cheapest one that takes them (integer to decimal to
float, NULL to anything, integer to time). A function is strict unless declared otherwise: NULL in, NULL out. An
undefined operation (x / 0, an integer beyond 64 bits, the root of a negative number) returns NULL.

A `measure` argument sets the scale of distances: the micrometres per coordinate unit on the plane, or 0 for longitude
and latitude on WGS 84. Distances are computed in whole micrometres (E9) and returned in metres. A distance is NULL for
a latitude beyond a pole or a longitude beyond a full turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from transom.errors import TypeProblem
from transom.model.types import DECLARABLE, Type
from transom.record import Record

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


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Signature(Record):
    """Argument types and result type; with `repeats`, the last argument may be repeated any number of times."""

    arguments: tuple[Type, ...]
    result: Type
    repeats: bool = False

    def expand(self, count: int) -> tuple[Type, ...] | None:
        """Return the parameter types for a call with `count` arguments; None if that count does not fit."""
        if self.repeats and count >= len(self.arguments):
            return self.arguments + self.arguments[-1:] * (count - len(self.arguments))
        return self.arguments if count == len(self.arguments) else None

    def __str__(self) -> str:
        """The signature as text: `(types) -> result`."""
        dots = ", ..." if self.repeats else ""
        return f"({', '.join(map(str, self.arguments))}{dots}) -> {self.result}"


Family: TypeAlias = Literal["values", "places", "terms"]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Function(Record):
    """A scalar function: its name as written, its signatures and meaning, and how it treats NULL.

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

    def result(self, types: tuple[Type, ...]) -> Type | None:
        """Return the result type for exactly these argument types; None if no signature has them."""
        return next((s.result for s in self.signatures if s.expand(len(types)) == types), None)


FUNCTIONS: dict[str, Function] = {}
SPACE_FUNCTIONS: dict[str, Function] = {}
"""Spatial functions, offered only by languages with positions; `resolve` finds them too."""


def _register(
    group: str,
    name: str,
    meaning: str,
    *signatures: Signature,
    infix: bool = False,
    null_if_any_null: bool = True,
) -> None:
    """Register a function; `group`: its topic in the docs; `infix`: written between its arguments.

    An infix function is written between its arguments; a strict one is NULL if an argument is NULL.
    """
    FUNCTIONS[name] = Function(name, signatures, meaning, group, infix, null_if_any_null)


def _signature_per_type(
    kinds: Iterable[Type], count: int, result: Type | None = None, repeats: bool = False
) -> list[Signature]:
    """Return, per type in `kinds`, a signature of `count` parameters, or more if `repeats`; `result` None: the type."""
    return [Signature((kind,) * count, result or kind, repeats) for kind in kinds]


NUMBERS = (I, D, F)
_ORDERED = (I, D, F, S, T, TS, B)

_register(
    "logic",
    "AND",
    "true if all operands are true; false if at least one operand is false",
    Signature((B, B), B, True),
    infix=True,
    null_if_any_null=False,
)
_register(
    "logic",
    "OR",
    "true if at least one operand is true; false if all operands are false",
    Signature((B, B), B, True),
    infix=True,
    null_if_any_null=False,
)
_register("logic", "NOT", "true if the operand is false, and false if the operand is true", Signature((B,), B))
_register(
    "logic",
    "IS NULL",
    "true if the value is NULL, otherwise false",
    *_signature_per_type(DECLARABLE, 1, B),
    null_if_any_null=False,
)
for _name, _meaning in [
    ("=", "true if both values are equal"),
    ("<>", "true if the values differ"),
    ("<", "true if the left value is less than the right value"),
    ("<=", "true if the left value is less than or equal to the right value"),
    (">", "true if the left value is greater than the right value"),
    (">=", "true if the left value is greater than or equal to the right value"),
]:
    _register("comparison", _name, _meaning, *_signature_per_type(_ORDERED, 2, B), infix=True)
_register(
    "comparison",
    "IN",
    "true if the left value equals one of the values in the list",
    *_signature_per_type(_ORDERED, 2, B, True),
    null_if_any_null=False,
)
_register(
    "comparison",
    "LIKE",
    "true if the string matches the pattern; `%` matches any number of characters, and `_` matches one character",
    Signature((S, S), B),
    infix=True,
)
_register(
    "arithmetic", "+", "the sum; a time plus a number of ticks is a time",
    *_signature_per_type(NUMBERS, 2), Signature((T, I), T), Signature((I, T), T), infix=True,
)  # fmt: skip
_register(
    "arithmetic", "-", "the difference; two times give a number of ticks, and two timestamps give seconds",
    *_signature_per_type(NUMBERS, 2), Signature((T, I), T), Signature((T, T), I), Signature((TS, TS), F), infix=True,
)  # fmt: skip
_register("arithmetic", "*", "the product", *_signature_per_type(NUMBERS, 2), infix=True)
_register(
    "arithmetic",
    "/",
    "the quotient, which is always a float; NULL if the divisor is 0",
    Signature((F, F), F),
    infix=True,
)
_register(
    "arithmetic",
    "%",
    "the remainder of an integer division, with the sign of the dividend; NULL if the divisor is 0",
    Signature((I, I), I),
    infix=True,
)
_register("arithmetic", "NEG", "the number with the opposite sign", *_signature_per_type(NUMBERS, 1))
_register("numbers", "ABS", "the absolute value", *_signature_per_type(NUMBERS, 1))
_register(
    "numbers",
    "SIGN",
    "-1 for a negative number, 0 for zero, 1 for a positive number",
    *_signature_per_type(NUMBERS, 1, I),
)
_register(
    "numbers", "FLOOR", "the largest integer that is not greater than the number", *_signature_per_type(NUMBERS, 1, I)
)
_register(
    "numbers", "CEIL", "the smallest integer that is not less than the number", *_signature_per_type(NUMBERS, 1, I)
)
_register(
    "numbers",
    "ROUND",
    "the number rounded to n decimal places (0 by default); a half is rounded away from zero, and "
    "a decimal stays a decimal",
    *(Signature((kind, *decimals), D if kind is D else F) for kind in (F, D, I) for decimals in ((), (I,))),
)
_register(
    "numbers",
    "DIV",
    "the quotient of two integers, truncated towards zero; NULL if the divisor is 0",
    Signature((I, I), I),
)
_register("numbers", "SQRT", "the square root; NULL for a negative number", Signature((F,), F))
_register("numbers", "POWER", "x to the power of y; the last digit may differ between platforms", Signature((F, F), F))
_register("numbers", "EXP", "e to the power of x; the last digit may differ between platforms", Signature((F,), F))
_register(
    "numbers",
    "LN",
    "the natural logarithm; NULL for 0 and for negative numbers; the last digit may differ between platforms",
    Signature((F,), F),
)
_register(
    "numbers",
    "LOG10",
    "the logarithm to base 10; NULL for 0 and for negative numbers; the last digit may differ between platforms",
    Signature((F,), F),
)
_register(
    "choice",
    "GREATEST",
    "the largest of the values that are not NULL",
    *_signature_per_type(_ORDERED, 1, None, True),
    null_if_any_null=False,
)
_register(
    "choice",
    "LEAST",
    "the smallest of the values that are not NULL",
    *_signature_per_type(_ORDERED, 1, None, True),
    null_if_any_null=False,
)
_register(
    "choice",
    "COALESCE",
    "the first value that is not NULL",
    *_signature_per_type(_ORDERED, 1, None, True),
    null_if_any_null=False,
)
_register(
    "choice",
    "NULLIF",
    "NULL if both values are equal, otherwise the first value",
    *_signature_per_type(_ORDERED, 2),
    null_if_any_null=False,
)
_register("strings", "||", "the concatenation of two strings", Signature((S, S), S), infix=True)
_register("strings", "CONCAT", "the concatenation of all strings", Signature((S,), S, True))
_register("strings", "UPPER", "the string in upper case", Signature((S,), S))
_register("strings", "LOWER", "the string in lower case", Signature((S,), S))
_register("strings", "LENGTH", "the number of characters in the string", Signature((S,), I))
_register("strings", "TRIM", "the string without spaces at its start and end", Signature((S,), S))
_register("strings", "LTRIM", "the string without spaces at its start", Signature((S,), S))
_register("strings", "RTRIM", "the string without spaces at its end", Signature((S,), S))
_register(
    "strings",
    "SUBSTRING",
    "the characters from a position on; the first position is 1, and a third argument limits the number of characters",
    Signature((S, I), S),
    Signature((S, I, I), S),
)
_register("strings", "LEFT", "the first n characters of the string", Signature((S, I), S))
_register("strings", "RIGHT", "the last n characters of the string", Signature((S, I), S))
_register(
    "strings",
    "REPLACE",
    "the first string, with every occurrence of the second string replaced by the third string",
    Signature((S, S, S), S),
)
_register(
    "strings",
    "POSITION",
    "the position at which the second string begins in the first string, counted from 1; 0 if there is no match",
    Signature((S, S), I),
)
_register("strings", "STARTS_WITH", "whether the first string begins with the second string", Signature((S, S), B))
_register("strings", "ENDS_WITH", "whether the first string ends with the second string", Signature((S, S), B))
_register(
    "time",
    "INSTANT",
    "the instant at which the tick begins: tick, length of a tick, epoch",
    Signature((T, I, TS), TS),
)
_register(
    "time",
    "TICK",
    "the tick that contains the instant: instant, length of a tick, epoch",
    Signature((TS, I, TS), T),
)
for _name in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
    _register("time", _name, f"the {_name.lower()} of an instant, in UTC", Signature((TS,), I))


def _register_spatial(name: str, meaning: str, *signatures: Signature) -> None:
    """Register a spatial function, which is offered only by languages with positions."""
    SPACE_FUNCTIONS[name] = Function(name, signatures, meaning, "space", family="places")


_register_spatial(
    "POINT",
    "the point with the given coordinates; on the globe, the longitude comes before the latitude: x, y, measure",
    Signature((F,), P),
    Signature((F, F), P),
    Signature((F, F, I), P),
)
_register_spatial("X", "the first coordinate of a point", Signature((P,), F))
_register_spatial("Y", "the second coordinate of a point", Signature((P,), F))
_register_spatial(
    "DISTANCE", "the distance between two points in metres: point, point, measure", Signature((P, P, I), F)
)
_register_spatial(
    "WITHIN",
    "whether the distance between two points is at most a given length: point, point, micrometres, measure",
    Signature((P, P, I, I), B),
)
_register_spatial(
    "SPEED",
    "the average speed in km/h from one point to another, computed from both points and their ticks; NULL if the ticks "
    "are equal: point, tick, point, tick, measure, microseconds of a tick",
    Signature((P, I, P, I, I, I), F),
)
_register_spatial(
    "HEADING",
    "the direction from one point to another, in degrees clockwise from north; NULL if the points are equal; the last "
    "digit may differ between platforms: point, point, measure",
    Signature((P, P, I), F),
)
_register_spatial("WKT", "the well-known text (WKT) of a point or a line", Signature((P,), S), Signature((L,), S))
_register_spatial(
    "WKB",
    "the well-known binary (WKB) of a point or a line, little-endian, as hexadecimal digits",
    Signature((P,), S),
    Signature((L,), S),
)

_COST = {(I, D): 2, (I, F): 3, (D, F): 3, (I, T): 4}


def widening_cost(source: Type, target: Type) -> int | None:
    """Return the cost of widening an argument's type when an overload is chosen; 0 if equal, None if not allowed."""
    if source is target:
        return 0
    return 1 if source is Type.NULL else _COST.get((source, target))


def resolve(name: str, types: Sequence[Type]) -> tuple[Function, tuple[Type, ...], Type]:
    """Choose a function's cheapest overload for argument types; return function, parameter and result types.

    Returned are the function, the types to which the arguments are widened, and the result type. The cheapest signature
    wins. TypeProblem if no signature takes the types.
    """
    function = FUNCTIONS.get(name) or SPACE_FUNCTIONS[name]
    best: tuple[int, tuple[Type, ...], Type] | None = None
    for signature in function.signatures:
        parameters = signature.expand(len(types))
        if parameters is None:
            continue
        costs = [widening_cost(source, target) for source, target in zip(types, parameters, strict=True)]
        total = sum(cost for cost in costs if cost is not None)
        if None not in costs and (best is None or total < best[0]):
            best = (total, parameters, signature.result)
    if best is None:
        offered = " or ".join(dict.fromkeys(str(s) for s in function.signatures))
        hint = "both sides need one type; CAST one of them" if function.group == "comparison" else f"it takes {offered}"
        raise TypeProblem(f"{name} does not take ({', '.join(map(str, types))})", hint=hint)
    return function, best[1], best[2]
