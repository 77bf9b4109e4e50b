"""Regular expressions as XPath and XQuery write them; None is an error, also for a text that is too long."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from transom.errors import Unsupported
from transom.model.rdf.terms import Term
from transom.reference.rdf.pattern_cost import Costly, longest_text
from transom.reference.rdf.strings import like, simple, text

_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}
_FOREIGN = re.compile(r"\\(?:[pPicIC]|[0-9]{3})|\[[^\]]*-\[")
"""What XPath has and Python has not: categories of letters, names, and classes less other classes."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A compiled pattern, and the length of the longest text that it is looked for in; None is any."""

    pattern: re.Pattern[str]
    longest: int | None = None

    def takes(self, text: str) -> bool:
        """Whether a text is short enough."""
        return self.longest is None or len(text) <= self.longest


@lru_cache(maxsize=256)
def compiled(pattern: str, flags: str, function: str) -> Machine | None:
    """A pattern with its flags, None where one of them is none; Unsupported of the function if it may take too long."""
    if not set(flags) <= {*_FLAGS, "q"}:
        return None
    chosen = re.RegexFlag(0)
    for flag in set(flags) & set(_FLAGS):
        chosen |= _FLAGS[flag]
    if "q" in flags:
        return Machine(re.compile(re.escape(pattern), chosen & re.IGNORECASE))
    if _FOREIGN.search(pattern):
        raise Unsupported(function, f"categories and differences of characters are not built: {pattern}", "not yet")
    try:
        python = _as_python(pattern, chosen)
        return Machine(re.compile(python, chosen), longest_text(python, chosen))
    except Costly as problem:
        hint = "write it so that each text is matched in one way: a+ for (a+)+, [^,]*, for .*,"
        shown = pattern if len(pattern) <= 80 else f"{pattern[:77]}..."
        raise Unsupported(function, f"the pattern {shown} may take too long: {problem}", "never", hint=hint) from None
    except (re.error, OverflowError, RecursionError):
        return None


def _as_python(pattern: str, flags: re.RegexFlag) -> str:
    """The same pattern for Python: `$` is the very end, `.` no end of line, `(?` only in `(?:`."""
    found: list[str] = []
    inside, place = False, 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "\\":
            if pattern[place + 1 : place + 2] in ("Z", "A", "b", "B", "z", "g"):
                raise re.error("no such escape")
            found.append(pattern[place : place + 2])
            place += 2
            continue
        if inside:
            inside = sign != "]"
            found.append("\\[" if sign == "[" else sign)
        elif sign == "[":
            inside = True
            found.append(sign)
            if pattern[place + 1 : place + 2] == "^":
                found.append("^")
                place += 1
        elif sign == "$" and not flags & re.MULTILINE:
            found.append(r"\Z")
        elif sign == "." and not flags & re.DOTALL:
            found.append(r"[^\n\r]")
        elif pattern.startswith("(?", place) and not pattern.startswith("(?:", place):
            raise re.error("no such group")
        else:
            found.append(sign)
        place += 1
    return "".join(found)


def regex(term: Term, pattern: Term, flags: Term | None = None) -> bool | None:
    """Whether a pattern is found in a string."""
    found, wanted, chosen = text(term), simple(pattern), simple(flags) if flags is not None else ""
    if found is None or wanted is None or chosen is None:
        return None
    machine = compiled(wanted, chosen, "REGEX")
    if machine is None or not machine.takes(found.text):
        return None
    return machine.pattern.search(found.text) is not None


def replace(term: Term, pattern: Term, new: Term, flags: Term | None = None) -> Term | None:
    """Every match of a pattern replaced; a pattern that matches nothing at all is an error."""
    found, wanted, instead = text(term), simple(pattern), simple(new)
    chosen = simple(flags) if flags is not None else ""
    if found is None or wanted is None or instead is None or chosen is None:
        return None
    machine = compiled(wanted, chosen, "REPLACE")
    if machine is None or machine.pattern.search("") is not None or not machine.takes(found.text):
        return None
    parts = [(instead, None)] if "q" in chosen else template(instead, machine.pattern.groups)
    if parts is None:
        return None

    def put(match: re.Match[str]) -> str:
        return "".join(words if group is None else match[group] or "" for words, group in parts)

    return like(found, machine.pattern.sub(put, found.text))


def template(instead: str, groups: int) -> list[tuple[str, int | None]] | None:
    """A replacement as words and numbers of groups: `$1`, `\\$`, `\\\\`; None where it is none."""
    found: list[tuple[str, int | None]] = []
    for piece in re.findall(r"\\.?|\$[0-9]*|[^\\$]+", instead, re.DOTALL):
        if piece in ("\\$", "\\\\"):
            found.append((piece[1], None))
        elif piece[0] == "\\" or piece == "$":
            return None
        elif piece[0] == "$":
            digits = piece[1:]
            while len(digits) > 1 and int(digits) > groups:
                digits = digits[:-1]
            if int(digits) <= groups:
                found.append(("", int(digits)))
            found.append((piece[1 + len(digits) :], None))
        else:
            found.append((piece, None))
    return found
