"""REGEX and REPLACE with regular expressions of XPath; None is an error, also for a string that is too long."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from transom.errors import Unsupported
from transom.model.rdf.terms import Term
from transom.reference.rdf.regex_cost import CostlyPattern, max_text_length
from transom.reference.rdf.strings import in_same_language, simple_string, string_value

_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}
_UNSUPPORTED = re.compile(r"\\(?:[pPicIC]|[0-9]{3})|\[[^\]]*-\[")
"""XPath syntax that Python lacks: character categories, name characters, and class subtraction."""


@dataclass(frozen=True, slots=True)
class CompiledRegex:
    """A compiled pattern, and the length of the longest text that it may search; None is any length."""

    pattern: re.Pattern[str]
    longest: int | None = None

    def may_search(self, text: str) -> bool:
        """Whether a string is short enough that the pattern's worst case on it ends in reasonable time."""
        return self.longest is None or len(text) <= self.longest


@lru_cache(maxsize=256)
def compile_regex(pattern: str, flags: str, function: str) -> CompiledRegex | None:
    """Compile an XPath regex; None if malformed; Unsupported, naming the SPARQL `function`, if it may be slow."""
    if not set(flags) <= {*_FLAGS, "q"}:
        return None
    options = re.RegexFlag(0)
    for flag in set(flags) & set(_FLAGS):
        options |= _FLAGS[flag]
    if "q" in flags:
        return CompiledRegex(re.compile(re.escape(pattern), options & re.IGNORECASE))
    if _UNSUPPORTED.search(pattern):
        raise Unsupported(function, f"categories and differences of characters are not built: {pattern}", "not yet")
    try:
        translated = _as_python(pattern, options)
        return CompiledRegex(re.compile(translated, options), max_text_length(translated, options))
    except CostlyPattern as problem:
        hint = "write it so that each text is matched in one way: a+ for (a+)+, [^,]*, for .*,"
        shown = pattern if len(pattern) <= 80 else f"{pattern[:77]}..."
        raise Unsupported(function, f"the pattern {shown} may take too long: {problem}", "never", hint=hint) from None
    except (re.error, OverflowError, RecursionError):
        return None


def _as_python(pattern: str, flags: re.RegexFlag) -> str:
    """Translate an XPath regex to the syntax of Python's `re`.

    There `$` is the very end, `.` excludes line ends, and `(?` must be `(?:`.
    """
    translated: list[str] = []
    in_class, index = False, 0
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            if pattern[index + 1 : index + 2] in ("Z", "A", "b", "B", "z", "g"):
                raise re.error("no such escape")
            translated.append(pattern[index : index + 2])
            index += 2
            continue
        if in_class:
            in_class = character != "]"
            translated.append("\\[" if character == "[" else character)
        elif character == "[":
            in_class = True
            translated.append(character)
            if pattern[index + 1 : index + 2] == "^":
                translated.append("^")
                index += 1
        elif character == "$" and not flags & re.MULTILINE:
            translated.append(r"\Z")
        elif character == "." and not flags & re.DOTALL:
            translated.append(r"[^\n\r]")
        elif pattern.startswith("(?", index) and not pattern.startswith("(?:", index):
            raise re.error("no such group")
        else:
            translated.append(character)
        index += 1
    return "".join(translated)


def regex(term: Term, pattern: Term, flags: Term | None = None) -> bool | None:
    """SPARQL REGEX: whether a pattern matches in a string; None if the arguments are malformed or too long."""
    string, source = string_value(term), simple_string(pattern)
    letters = simple_string(flags) if flags is not None else ""
    if string is None or source is None or letters is None:
        return None
    compiled = compile_regex(source, letters, "REGEX")
    if compiled is None or not compiled.may_search(string.text):
        return None
    return compiled.pattern.search(string.text) is not None


def replace(term: Term, pattern: Term, new: Term, flags: Term | None = None) -> Term | None:
    """SPARQL REPLACE: the string with every match of a pattern replaced by `new`; None for invalid arguments.

    Invalid are malformed or too long arguments, and a pattern that matches the empty string.
    """
    string, source, replacement = string_value(term), simple_string(pattern), simple_string(new)
    letters = simple_string(flags) if flags is not None else ""
    if string is None or source is None or replacement is None or letters is None:
        return None
    compiled = compile_regex(source, letters, "REPLACE")
    if compiled is None or compiled.pattern.search("") is not None or not compiled.may_search(string.text):
        return None
    parts = [(replacement, None)] if "q" in letters else parse_replacement(replacement, compiled.pattern.groups)
    if parts is None:
        return None

    def expand(match: re.Match[str]) -> str:
        """The text that replaces one match, with `$1` and other group references filled in."""
        return "".join(text if group is None else match[group] or "" for text, group in parts)

    return in_same_language(string, compiled.pattern.sub(expand, string.text))


def parse_replacement(replacement: str, groups: int) -> list[tuple[str, int | None]] | None:
    r"""Parse a replacement text to texts and numbers of groups, such as 1 for `$1`; None if it is malformed.

    Group numbers are at most `groups`; `\$` and `\\` are the characters themselves.
    """
    parts: list[tuple[str, int | None]] = []
    for piece in re.findall(r"\\.?|\$[0-9]*|[^\\$]+", replacement, re.DOTALL):
        if piece in ("\\$", "\\\\"):
            parts.append((piece[1], None))
        elif piece[0] == "\\" or piece == "$":
            return None
        elif piece[0] == "$":
            digits = piece[1:]
            while len(digits) > 1 and int(digits) > groups:
                digits = digits[:-1]
            if int(digits) <= groups:
                parts.append(("", int(digits)))
            parts.append((piece[1 + len(digits) :], None))
        else:
            parts.append((piece, None))
    return parts
