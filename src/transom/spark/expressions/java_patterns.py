"""Translate constant regular expressions from the reference engine's dialect to Java; does not need PySpark."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

from transom.algebra.expressions import expression
from transom.algebra.expressions.expression import Call
from transom.errors import Unsupported
from transom.model.rdf.terms import Literal
from transom.model.rdf.values import StringValue, value_of
from transom.physical import gaps
from transom.reference.rdf.regex import compile_regex

_SPACES = r"\t-\r\x1C-\x20\x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000"
_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": _SPACES}
"""Java equivalents of Python's character classes."""

_PLAIN = {"v": r"\x0B", "a": r"\x07"}
_COUNT = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")


class _ForeignPattern(Exception):
    """A pattern that Java would interpret differently."""


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """A pattern for Java; `pattern` is None if every use is an error, `longest` limits the length of texts."""

    pattern: str | None
    groups: int = 0
    matches_nothing: bool = False
    longest: int | None = None


def pattern_refusal(call: Call) -> Unsupported | None:
    """Return the error for a REGEX or REPLACE call whose pattern Spark cannot run, or None if Spark can run it.

    Spark cannot run patterns that vary or have no equivalent in Java.
    """
    if not all(isinstance(argument, expression.Constant) for argument in call.arguments[1:]):
        return gaps.VARIABLE_PATTERN.refusal(call.function.name)
    try:
        java_pattern(call)
    except Unsupported as problem:
        if problem.kind == "never":
            return problem  # it may take too long on any engine
        return gaps.UNTRANSLATABLE_PATTERN.refusal(call.function.name, detail=problem.why)
    except _ForeignPattern as problem:
        return gaps.UNTRANSLATABLE_PATTERN.refusal(call.function.name, detail=str(problem))
    return None


def check_pattern(call: Call) -> None:
    """Raise Unsupported if the reference engine rejects a call's constant pattern.

    A pattern that only Java rejects passes.
    """
    with contextlib.suppress(_ForeignPattern):
        java_pattern(call)


def constant_characters(call: Call, position: int) -> str | None:
    """The text of the constant string argument at `position` (from 0), '' if omitted; None if not such a constant."""
    if len(call.arguments) <= position:
        return ""
    argument = call.arguments[position]
    term = argument.value if isinstance(argument, expression.Constant) else None
    value = value_of(term) if isinstance(term, Literal) else None
    return value.text if isinstance(value, StringValue) and not value.language else None


def java_pattern(call: Call) -> JavaPattern:
    """Translate a call's constant regex to Java; raise Unsupported, or _ForeignPattern if only Java lacks it."""
    pattern, flags = (
        constant_characters(call, 1),
        constant_characters(call, 3 if call.function.name == "REPLACE" else 2),
    )
    if pattern is None or flags is None:
        return JavaPattern(None)
    regex = compile_regex(pattern, flags, call.function.name)
    if regex is None:
        return JavaPattern(None)
    folded = "(?iu)" if "i" in flags else ""
    body = re.sub(r"([^0-9A-Za-z_])", r"\\\1", pattern) if "q" in flags else _translate_pattern(pattern, flags)
    compiled = regex.pattern
    return JavaPattern(folded + body, compiled.groups, compiled.search("") is not None, regex.longest)


def _translate_pattern(pattern: str, flags: str) -> str:
    """Translate a regular expression with SPARQL flags from the reference engine's dialect (Python) to Java."""
    translated: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            piece, position = _translate_escape(pattern, position, in_class=False)
            translated.append(piece)
            continue
        if character == "[":
            piece, position = _translate_class(pattern, position)
            translated.append(piece)
            continue
        if "x" in flags and character in " \t\n\r\f\v":
            position += 1
            continue
        if "x" in flags and character == "#":
            raise _ForeignPattern("a comment")
        if character == "{":
            count = _COUNT.match(pattern, position)
            if not count or not (count[1] or count[3]):
                raise _ForeignPattern("a brace that counts nothing")
            translated.append(f"{{{count[1] or 0}{count[2]}{count[3]}}}")
            position = count.end()
            continue
        translated.append(_translate_character(character, flags))
        position += 1
    return "".join(translated)


def _translate_character(character: str, flags: str) -> str:
    """Translate a pattern character outside escapes and classes to Java; flags m and s change `^`, `$` and `.`."""
    match character:
        case "$":
            return r"(?=\n|\z)" if "m" in flags else r"\z"
        case "^":
            return r"(?:\A|(?<=\n))" if "m" in flags else r"\A"
        case ".":
            return r"[\x{0}-\x{10FFFF}]" if "s" in flags else r"[^\n\r]"
        case "}" | "]":
            return "\\" + character
        case _:
            return character


def _translate_escape(pattern: str, position: int, *, in_class: bool) -> tuple[str, int]:
    """Translate the regex escape at `position` (`in_class`: inside [...]) to Java; return (Java text, offset after it).

    `in_class` says whether the escape is in a character class.
    """
    letter = pattern[position + 1 : position + 2]
    small = letter.lower()
    if small in _CLASSES and letter.isascii():
        members = _CLASSES[small]
        if letter == small:
            return (members if in_class else f"[{members}]"), position + 2
        if in_class:
            raise _ForeignPattern(f"\\{letter} in a class")
        return f"[^{members}]", position + 2
    if letter in _PLAIN:
        return _PLAIN[letter], position + 2
    if letter == "U":
        return f"\\x{{{pattern[position + 2 : position + 10]}}}", position + 10
    if letter in ("x", "u"):
        last = position + (4 if letter == "x" else 6)
        return pattern[position:last], last
    if letter in ("0", "N") or (in_class and letter.isdigit()):
        raise _ForeignPattern(f"\\{letter}")
    return pattern[position : position + 2], position + 2


def _translate_class(pattern: str, position: int) -> tuple[str, int]:
    """Translate the character class at `position`, such as [a-z], to Java; return (Java text, offset after it)."""
    translated = ["["]
    position += 1
    if pattern[position : position + 1] == "^":
        translated.append("^")
        position += 1
    if pattern[position : position + 1] == "]":
        raise _ForeignPattern("a class that begins with its end")
    while pattern[position] != "]":
        character = pattern[position]
        if character == "\\":
            piece, position = _translate_escape(pattern, position, in_class=True)
            translated.append(piece)
            continue
        translated.append("\\" + character if character in "[&^ #~|" else character)
        position += 1
    if re.search(r"(?<!\\)-.*(?<!\\)-", "".join(translated[1:])) and _odd_ranges(translated):
        raise _ForeignPattern("a range after a range")
    return "".join((*translated, "]")), position + 1


def _odd_ranges(translated: list[str]) -> bool:
    """Whether a hyphen directly follows a range in a character class (a-c-e), which regex dialects read differently."""
    characters = [character for character in translated[1:] if character != "^"]
    return any(
        characters[n] == "-" and n >= 3 and characters[n - 2] == "-" and n + 1 < len(characters)
        for n in range(len(characters))
    )
