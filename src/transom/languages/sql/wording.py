"""Words for types that do not fit: what was given, what would be taken, and the way around."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.expressions import Expression, Literal, castable
from transom.algebra.functions import Signature
from transom.errors import TypeProblem
from transom.model.types import DECLARABLE, Type, common_type

LONGEST_WORDS = 40
"""Characters of the user's own text that a message repeats."""

OPERANDS = {
    "+": "it takes numbers, or a time and a number of ticks; || joins strings",
    "-": "it takes numbers, or times",
    "%": "it takes integers",
    "||": "it takes strings; CAST(x AS string) makes one",
    "LIKE": "it takes strings; CAST(x AS string) makes one",
}
"""What an operator takes, where it is not just numbers."""


def brief(words: str) -> str:
    """Words that the user wrote, cut short if they are long."""
    return words if len(words) <= LONGEST_WORDS else words[: LONGEST_WORDS - 3] + "..."


def a(kind: Type) -> str:
    """A type as a noun: an integer, a float, NULL."""
    if kind is Type.NULL:
        return "NULL"
    return f"an {kind}" if kind is Type.INTEGER else f"a {kind}"


def these(kinds: Sequence[Type]) -> str:
    """Several types as nouns: two strings, an integer and a float."""
    if len(kinds) == 2 and kinds[0] is kinds[1]:
        return f"two {kinds[0]}s"
    return " and ".join(map(a, kinds))


def incomparable(operands: Sequence[Expression]) -> TypeProblem:
    """Values of two types that have no order together."""
    first, *others = (operand.type for operand in operands)
    other = next((kind for kind in others if common_type(first, kind) is None), others[-1])
    written = [o.type for o in operands if isinstance(o, Literal)]
    if {first, other} == {Type.TIME, Type.TIMESTAMP}:
        hint = "INSTANT(x) makes a timestamp of a time, TICK(x) a time of a timestamp"
    elif Type.STRING in written and (first.is_number or other.is_number):
        hint = "a number is written without quotes"
    elif Type.STRING in (first, other) and any(kind.is_number for kind in written):
        hint = "a string is written in quotes, such as '1'"
    else:
        hint = "make both of one type with CAST"
    return TypeProblem(f"{a(first)} cannot be compared with {a(other)}", hint=hint)


def argument_counts(signatures: Sequence[Signature]) -> str:
    """How many arguments a function takes, in words."""
    counts = sorted({len(signature.arguments) for signature in signatures})
    words = ("at least " if signatures[0].repeats else "") + " or ".join(map(str, counts))
    return f"takes {words} argument{'' if counts[-1] == 1 else 's'}"


def takes(signatures: Sequence[Signature]) -> str:
    """What a function takes, in words."""
    if len(signatures) <= 2:
        return f"it takes {' or '.join(map(str, signatures))}"
    number = all(signature.arguments[0].is_number for signature in signatures)
    if signatures[0].repeats or len(signatures[0].arguments) > 1:
        return "it takes numbers" if number else "it takes values of one type"
    return "it takes a number" if number else "it takes a value of any type"


def way_around(given: Type, wanted: Type) -> str:
    """What to do where there is no CAST."""
    if (given, wanted) == (Type.FLOAT, Type.STRING):
        return "ROUND it and make it an integer first"
    if (given, wanted) == (Type.TIME, Type.TIMESTAMP):
        return "INSTANT(x) does that"
    if (given, wanted) == (Type.TIMESTAMP, Type.TIME):
        return "TICK(x) does that"
    possible = [kind for kind in DECLARABLE if kind is not given and castable(given, kind)]
    return f"it can be made {' or '.join(map(a, possible))}" if possible else "YEAR(x), HOUR(x) and others read it"


def overlapping(instead: str | None) -> str:
    """The warning about a window that is one tick or row wider than its slide; what to write instead, if it can be."""
    message = "the window is one longer than its slide, so a row on the boundary is in two windows"
    return message if instead is None else f"{message}; for windows that do not overlap write {instead}"
