"""Messages about types that do not fit: what was found, what is accepted, and how to convert."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.expressions.expression import Column, Constant, Expression, castable
from transom.algebra.expressions.functions import Signature
from transom.errors import TypeProblem
from transom.model.types import DECLARABLE, Type, common_type

MAX_QUOTED_LENGTH = 40
"""Most characters of the user's text that a message quotes."""

ONE_TYPE = "it takes values of one type"

OPERANDS = {
    "+": "it takes numbers, or a time and a number of ticks; || joins strings",
    "-": "it takes numbers, or times",
    "%": "it takes integers",
    "||": "it takes strings",
    "LIKE": "it takes strings",
}
"""What an operator accepts, unless it is just numbers."""


def shorten(text: str) -> str:
    """Truncate the user's text to MAX_QUOTED_LENGTH characters, so that an error message can quote it."""
    return text if len(text) <= MAX_QUOTED_LENGTH else text[: MAX_QUOTED_LENGTH - 3] + "..."


def with_article(kind: Type) -> str:
    """Return a type with its article for messages, such as `an integer`, `a float` or `NULL`."""
    if kind is Type.NULL:
        return "NULL"
    return f"an {kind}" if kind is Type.INTEGER else f"a {kind}"


def unknown_constant(kind: str, text: str) -> TypeProblem:
    """Return the TypeProblem for a constant such as `DATE '2009-03-01'`, of a type that has no constants."""
    hint = f"for a column of type time write TIME {shorten(text)}, for one of type timestamp TIMESTAMP {shorten(text)}"
    return TypeProblem(f"there are no {shorten(kind)} constants", hint=hint)


def or_list(names: Sequence[str]) -> str:
    """Join names as alternatives, such as `a, b or c`."""
    *rest, last = names
    return f"{', '.join(rest)} or {last}" if rest else last


def cast_text(text: str, source: Type, target: Type) -> str | None:
    """Return SQL that casts expression `text` to `target` (float to string: rounded to integer); None if impossible."""
    if castable(source, target):
        return f"CAST({text} AS {target})"
    if (source, target) == (Type.FLOAT, Type.STRING):
        return f"CAST(CAST(ROUND({text}) AS integer) AS string)"
    return None


def condition_hint(text: str, kind: Type) -> str:
    """Return a hint that makes a condition of an expression that is not boolean, such as the comparison `x > 0`."""
    if kind.is_number:
        return f"compare it with a number, for example {text} > 0"
    if kind is Type.STRING:
        return f"compare it with a string, for example {text} = '...'"
    if kind in (Type.TIME, Type.TIMESTAMP):
        return f"compare it with an instant, for example {text} > '2009-03-01T12:00:00Z'"
    return "compare it with something, for example a number"


def operand_hint(operator: str, operands: Sequence[tuple[str, Type]]) -> str:
    """Return a hint for an operator on operands (text, type) of wrong types: the types it takes, or a CAST to write."""
    hint = OPERANDS.get(operator, "it takes numbers")
    if operator in ("||", "LIKE"):
        casts = [cast_text(text, kind, Type.STRING) for text, kind in operands if kind is not Type.STRING]
        if casts and casts[0]:
            return f"{hint}; write {casts[0]}"
    return hint


def same_type_hint(operands: Sequence[tuple[str, Type]]) -> str:
    """Return a hint to CAST one of several operands (text, type) so that all have one type, or to use one type."""
    first = next((operand for operand in operands if operand[1] is not Type.NULL), operands[0])
    other = next((operand for operand in operands if common_type(first[1], operand[1]) is None), operands[-1])
    pairs = ((other, first), (first, other))
    for source, target in sorted(pairs, key=lambda pair: pair[1][1] is not Type.STRING):
        if castable(source[1], target[1]):
            return f"convert one of them, for example CAST({source[0]} AS {target[1]})"
    return "use values of one type"


def type_list(kinds: Sequence[Type]) -> str:
    """Join types for messages, such as `two strings` or `an integer and a float`."""
    if len(kinds) == 2 and kinds[0] is kinds[1]:
        return f"two {kinds[0]}s"
    return " and ".join(map(with_article, kinds))


def incomparable_message(operands: Sequence[Expression]) -> TypeProblem:
    """Return the TypeProblem for operands whose types cannot be compared, with a hint on how to convert them."""
    first, *rest = (operand.type for operand in operands)
    other = next((kind for kind in rest if common_type(first, kind) is None), rest[-1])
    constant_types = [o.type for o in operands if isinstance(o, Constant)]
    if {first, other} == {Type.TIME, Type.TIMESTAMP}:
        return _time_and_timestamp(operands)
    if Type.STRING in constant_types and (first.is_number or other.is_number):
        hint = "write a number, without quotes"
    elif Type.STRING in (first, other) and any(kind.is_number for kind in constant_types):
        hint = "a string is written in quotes, such as '1'"
    else:
        hint = _comparison_cast(operands, other)
    return TypeProblem(f"{with_article(first)} cannot be compared with {with_article(other)}", hint=hint)


def _time_and_timestamp(operands: Sequence[Expression]) -> TypeProblem:
    """Return the TypeProblem for a comparison of a time with a timestamp."""
    message = "a time (counted in ticks) cannot be compared with a timestamp"
    conversions = {Type.TIME: "INSTANT", Type.TIMESTAMP: "TICK"}
    for operand in operands:
        if isinstance(operand, Constant) and operand.type in conversions:
            written, expected = ("TIMESTAMP", "TIME") if operand.type is Type.TIMESTAMP else ("TIME", "TIMESTAMP")
            return TypeProblem(message, hint=f"write {expected} '...' instead of {written} '...'")
    calls = [
        f"{conversions[o.type]}({shorten(o.attribute.name)})"
        for o in operands
        if isinstance(o, Column) and o.type in conversions
    ]
    return TypeProblem(message, hint=f"convert one of them: write {or_list(calls or ['INSTANT(..)', 'TICK(..)'])}")


def _comparison_cast(operands: Sequence[Expression], other: Type) -> str:
    """Return a hint to compare values of one type, with a CAST of a column to write if there is a suitable one."""
    first = operands[0].type
    for operand in operands:
        target = other if operand.type is first else first
        if isinstance(operand, Column) and castable(operand.type, target):
            return f"convert one of them, for example CAST({shorten(operand.attribute.name)} AS {target})"
    return "compare values of one type"


def argument_counts(signatures: Sequence[Signature]) -> str:
    """Return how many arguments a function takes, as text such as `takes 1 or 2 arguments`."""
    counts = sorted({len(signature.arguments) for signature in signatures})
    numbers = ("at least " if signatures[0].repeats else "") + " or ".join(map(str, counts))
    return f"takes {numbers} argument{'' if counts[-1] == 1 else 's'}"


def accepted_types(signatures: Sequence[Signature]) -> str:
    """Return the argument types that a function accepts, as text for a hint."""
    if len(signatures) <= 2:
        return f"it takes {', or '.join(map(_argument_list, signatures))}"
    number = all(signature.arguments[0].is_number for signature in signatures)
    if signatures[0].repeats or len(signatures[0].arguments) > 1:
        return "it takes numbers" if number else ONE_TYPE
    return "it takes a number" if number else "it takes a value of any type"


def _argument_list(signature: Signature) -> str:
    """Return the argument types of a signature as text, such as `a float and an integer` or `one string or more`."""
    if signature.repeats:
        return f"one {signature.arguments[-1]} or more"
    *rest, last = map(with_article, signature.arguments)
    if len(set(signature.arguments)) == 1 and rest:
        numbers = {2: "two", 3: "three", 4: "four"}
        return f"{numbers[len(signature.arguments)]} {signature.arguments[0]}s"
    return f"{', '.join(rest)} and {last}" if rest else f"one {signature.arguments[0]}"


def conversion_hint(text: str, source: Type, target: Type) -> str:
    """Return a hint for converting the expression `text` from type `source` to `target`, which CAST cannot do."""
    if (source, target) == (Type.FLOAT, Type.STRING):
        return f"cast it to an integer first: CAST(CAST(ROUND({text}) AS integer) AS string)"
    if (source, target) == (Type.TIME, Type.TIMESTAMP):
        return f"write INSTANT({text})"
    if (source, target) == (Type.TIMESTAMP, Type.TIME):
        return f"write TICK({text})"
    possible = [kind for kind in DECLARABLE if kind is not source and castable(source, kind)]
    return (
        f"it can be cast to {or_list([with_article(kind) for kind in possible])}"
        if possible
        else f"YEAR({text}), HOUR({text}) and others give its parts"
    )


def overlap_warning(suggestion: str | None) -> str:
    """Return the warning that a window is a tick or row longer than its slide; `suggestion`: a better one, or None."""
    message = "the window is one longer than its slide, so a row on the boundary is in two windows"
    return message if suggestion is None else f"{message}; for windows that do not overlap write {suggestion}"


def gap_warning(suggestion: str | None) -> str:
    """Return the warning that a window is shorter than its slide; `suggestion`: a window without a gap, or None."""
    message = "rows between two windows are in none of them"
    return message if suggestion is None else f"{message}; for windows without a gap write {suggestion}"


def is_plain(name: str) -> bool:
    """Whether a name may be that of an attribute in a catalog: ASCII letters, digits and underscores."""
    return name.isascii() and name.isidentifier()


def column_hint(column: str, other_remedy: str) -> str:
    """Return the hint how to read a column whose name no attribute can have; `other_remedy`: if it is none.

    `other_remedy` says what to write if the name was not meant as a column.
    """
    quoted = "'" + column.replace("'", "''") + "'"
    names = "names have only letters (A-Z), digits and _"
    return f"{names}; in the catalog write fields: {{NAME: {shorten(quoted)}}}; {other_remedy}"
