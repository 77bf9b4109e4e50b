"""Constant regular expressions of the reference engine, written for Java; this module does not need PySpark."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

from transom.algebra import expressions
from transom.algebra.expressions import Call
from transom.errors import Unsupported
from transom.model.rdf.terms import Literal
from transom.model.rdf.values import Text, value_of
from transom.physical import gaps
from transom.reference.rdf.regular import compiled

_SPACES = r"\t-\r\x1C-\x20\x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000"
_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": _SPACES}
"""What Python's classes of letters hold, for Java."""

_PLAIN = {"v": r"\x0B", "a": r"\x07"}
_COUNT = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")


class _Foreign(Exception):
    """A pattern that Java would read in another way."""


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """A pattern for Java, the number of its groups and the longest text; no pattern where every use is an error."""

    pattern: str | None
    groups: int = 0
    matches_nothing: bool = False
    longest: int | None = None


def refused(call: Call) -> Unsupported | None:
    """Why a call of REGEX or REPLACE has no native form, or None."""
    if not all(isinstance(argument, expressions.Literal) for argument in call.arguments[1:]):
        return gaps.VARIABLE_PATTERN.refusal(call.function.name)
    try:
        written(call)
    except Unsupported as problem:
        if problem.kind == "never":
            return problem  # it may take too long, on every engine
        return gaps.FOREIGN_PATTERN.refusal(call.function.name, detail=problem.why)
    except _Foreign as problem:
        return gaps.FOREIGN_PATTERN.refusal(call.function.name, detail=str(problem))
    return None


def read_by_reference(call: Call) -> None:
    """Raise Unsupported where the reference engine does not read the constant pattern of a call."""
    with contextlib.suppress(_Foreign):
        written(call)


def characters(call: Call, place: int) -> str | None:
    """The characters of a constant argument, None where it is no string without a language."""
    if len(call.arguments) <= place:
        return ""
    argument = call.arguments[place]
    term = argument.value if isinstance(argument, expressions.Literal) else None
    value = value_of(term) if isinstance(term, Literal) else None
    return value.text if isinstance(value, Text) and not value.language else None


def written(call: Call) -> JavaPattern:
    """The constant pattern of a call for Java; Unsupported or _Foreign where there is none."""
    pattern, flags = characters(call, 1), characters(call, 3 if call.function.name == "REPLACE" else 2)
    if pattern is None or flags is None:
        return JavaPattern(None)
    machine = compiled(pattern, flags, call.function.name)
    if machine is None:
        return JavaPattern(None)
    folded = "(?iu)" if "i" in flags else ""
    body = re.sub(r"([^0-9A-Za-z_])", r"\\\1", pattern) if "q" in flags else _for_java(pattern, flags)
    found = machine.pattern
    return JavaPattern(folded + body, found.groups, found.search("") is not None, machine.longest)


def _for_java(pattern: str, flags: str) -> str:
    """A pattern that the reference engine accepts, so that Java finds the same."""
    found: list[str] = []
    place = 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "\\":
            written, place = _escape(pattern, place, inside=False)
            found.append(written)
            continue
        if sign == "[":
            written, place = _set(pattern, place)
            found.append(written)
            continue
        if "x" in flags and sign in " \t\n\r\f\v":
            place += 1
            continue
        if "x" in flags and sign == "#":
            raise _Foreign("a comment")
        if sign == "{":
            count = _COUNT.match(pattern, place)
            if not count or not (count[1] or count[3]):
                raise _Foreign("a brace that counts nothing")
            found.append(f"{{{count[1] or 0}{count[2]}{count[3]}}}")
            place = count.end()
            continue
        found.append(_sign(sign, flags))
        place += 1
    return "".join(found)


def _sign(sign: str, flags: str) -> str:
    match sign:
        case "$":
            return r"(?=\n|\z)" if "m" in flags else r"\z"
        case "^":
            return r"(?:\A|(?<=\n))" if "m" in flags else r"\A"
        case ".":
            return r"[\x{0}-\x{10FFFF}]" if "s" in flags else r"[^\n\r]"
        case "}" | "]":
            return "\\" + sign
        case _:
            return sign


def _escape(pattern: str, place: int, *, inside: bool) -> tuple[str, int]:
    """An escape for Java, and where it ends."""
    letter = pattern[place + 1 : place + 2]
    small = letter.lower()
    if small in _CLASSES and letter.isascii():
        signs = _CLASSES[small]
        if letter == small:
            return (signs if inside else f"[{signs}]"), place + 2
        if inside:
            raise _Foreign(f"\\{letter} in a class")
        return f"[^{signs}]", place + 2
    if letter in _PLAIN:
        return _PLAIN[letter], place + 2
    if letter == "U":
        return f"\\x{{{pattern[place + 2 : place + 10]}}}", place + 10
    if letter in ("x", "u"):
        last = place + (4 if letter == "x" else 6)
        return pattern[place:last], last
    if letter in ("0", "N") or (inside and letter.isdigit()):
        raise _Foreign(f"\\{letter}")
    return pattern[place : place + 2], place + 2


def _set(pattern: str, place: int) -> tuple[str, int]:
    """A class of characters for Java, and where it ends."""
    found = ["["]
    place += 1
    if pattern[place : place + 1] == "^":
        found.append("^")
        place += 1
    if pattern[place : place + 1] == "]":
        raise _Foreign("a class that begins with its end")
    while pattern[place] != "]":
        sign = pattern[place]
        if sign == "\\":
            written, place = _escape(pattern, place, inside=True)
            found.append(written)
            continue
        found.append("\\" + sign if sign in "[&^ #~|" else sign)
        place += 1
    if re.search(r"(?<!\\)-.*(?<!\\)-", "".join(found[1:])) and _odd_ranges(found):
        raise _Foreign("a range after a range")
    return "".join((*found, "]")), place + 1


def _odd_ranges(found: list[str]) -> bool:
    """Whether a hyphen comes right after a range, where the two dialects may differ."""
    signs = [sign for sign in found[1:] if sign != "^"]
    return any(signs[n] == "-" and n >= 3 and signs[n - 2] == "-" and n + 1 < len(signs) for n in range(len(signs)))
