"""`time_format`: how the time column of a file is written, in the directives of strptime that every engine reads alike.

A format is a regular expression whose groups are put together as ISO 8601, which is then read like any other instant.
Python and Spark (Java) use the same expression: it has ASCII digits and letters only, and no construct that differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from transom.catalog.wording import quoted

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
PIVOT = 69
"""Two digits from here on are years of the last century, as POSIX has it."""
_LONGEST = 80
_NAMES = "|".join("".join(f"[{letter.upper()}{letter}]" for letter in month) for month in MONTHS)
_GROUPS = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "1[0-2]|0?[1-9]",
    "b": _NAMES,
    "d": "3[01]|[12][0-9]|0?[1-9]",
    "H": "2[0-3]|[01]?[0-9]",
    "I": "1[0-2]|0?[1-9]",
    "p": "[AaPp][Mm]",
    "M": "[0-5]?[0-9]",
    "S": "[0-5]?[0-9]",
    "f": "[0-9]{1,6}",
    "z": "Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]",
}
_MEANS = {"Y": "year", "y": "year", "m": "month", "b": "month", "H": "hour", "I": "hour"}
"""What a directive says, where two directives say the same."""
_TOKEN = re.compile(r"%(.?)|([^%]+)", re.DOTALL)
TAKES = ", ".join(f"%{letter}" for letter in _GROUPS)


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """A format as the catalog has it, the expression that it means, and the directive of each group."""

    text: str
    pattern: str
    letters: tuple[str, ...]

    def iso(self, text: str) -> str | None:
        """The instant as ISO 8601, without a zone if the format has none; None if it is written otherwise."""
        found = re.fullmatch(self.pattern, text)
        if not found:
            return None
        part = dict(zip(self.letters, found.groups(), strict=True))
        day = f"{_year(part)}-{_month(part)}-{part['d'].zfill(2)}"
        clock = ":".join((_hour(part), part.get("M", "0").zfill(2), part.get("S", "0").zfill(2)))
        return f"{day}T{clock}.{part.get('f', '').ljust(6, '0')}{part.get('z', '')}"


def _year(part: dict[str, str]) -> str:
    if "Y" in part:
        return part["Y"]
    return ("19" if int(part["y"]) >= PIVOT else "20") + part["y"]


def _month(part: dict[str, str]) -> str:
    number = part["m"] if "m" in part else str(MONTHS.index(part["b"].lower()) + 1)
    return number.zfill(2)


def _hour(part: dict[str, str]) -> str:
    if "I" not in part:
        return part.get("H", "0").zfill(2)
    return str(int(part["I"]) % 12 + (12 if part["p"].lower() == "pm" else 0)).zfill(2)


def read_time_format(text: str) -> TimeFormat:
    """A format from its text; ValueError says what is wrong with it.

    >>> read_time_format("%d.%m.%Y %H:%M").iso("1.5.2024 8:05")
    '2024-05-01T08:05:00.000000'
    """
    if len(text) > _LONGEST or not text.isprintable():
        raise ValueError(f"{quoted(text)} is not a format of times")
    tokens = [(found[1], found[2]) for found in _TOKEN.finditer(text)]
    letters = [letter for letter, literal in tokens if not literal and letter != "%"]
    _check(letters)
    pieces = []
    for place, (letter, literal) in enumerate(tokens):
        if literal or letter == "%":
            pieces.append(re.escape(literal or "%"))
            continue
        beside = [tokens[other] for other in (place - 1, place + 1) if 0 <= other < len(tokens)]
        runs_on = any(not other and name in _GROUPS and name not in "bpz" for name, other in beside)
        pieces.append(f"({_fixed(letter) if runs_on else _GROUPS[letter]})")
    return TimeFormat(text, "[ \t]*" + "".join(pieces) + "[ \t]*", tuple(letters))


def _fixed(letter: str) -> str:
    """The digits of a directive that has no sign between it and the next: always two."""
    return _GROUPS[letter].replace("0?", "0").replace("[01]?", "[01]").replace("[0-5]?", "[0-5]")


def _check(letters: list[str]) -> None:
    for letter in letters:
        if letter not in _GROUPS:
            raise ValueError(f"time_format does not take %{letter}; it takes {TAKES} and %%")
    means = [_MEANS.get(letter, letter) for letter in letters]
    for one in means:
        if means.count(one) > 1:
            raise ValueError(
                f"time_format has two directives for one part of a time: {' '.join(f'%{x}' for x in letters)}"
            )
    missing = [words for key, words in (("year", "%Y"), ("month", "%m"), ("d", "%d")) if key not in means]
    if missing:
        raise ValueError(f"time_format has no {' and no '.join(missing)}")
    if ("I" in letters) != ("p" in letters):
        raise ValueError("%I and %p go together")
