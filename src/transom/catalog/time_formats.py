"""`time_format`: the format of a file's time column, in strptime directives that all engines read alike.

A format is compiled to a regular expression whose groups are assembled to ISO 8601, which is then read like any other
instant. Python and Spark (Java) use the same expression: ASCII digits and letters only, no construct that differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from transom.catalog.reading.wording import quoted

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
PIVOT = 69
"""Two-digit years from here on are in the 20th century, as in POSIX."""
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
_FIELD_OF_DIRECTIVE = {"Y": "year", "y": "year", "m": "month", "b": "month", "H": "hour", "I": "hour"}
"""The part of a time that a directive denotes, where two directives denote the same."""
_BLANKS = "[ \t]*"
_TOKEN = re.compile(r"%(.?)|([^%]+)", re.DOTALL)
SUPPORTED_DIRECTIVES = ", ".join(f"%{letter}" for letter in _GROUPS)


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """A format's text, its regular expression, and the directive of each group."""

    text: str
    pattern: str
    directives: tuple[str, ...]

    @property
    def with_optional_offset(self) -> TimeFormat:
        """This format, or the same with an offset such as +01:00 allowed behind the time if it has no %z."""
        if "z" in self.directives:
            return self
        pattern = f"{self.pattern.removesuffix(_BLANKS)}(?: ?({_GROUPS['z']}))?{_BLANKS}"
        return TimeFormat(self.text, pattern, (*self.directives, "z"))

    def iso(self, text: str) -> str | None:
        """Convert a time in this format to ISO 8601; None if it does not match."""
        match = re.fullmatch(self.pattern, text)
        if not match:
            return None
        fields = dict(zip(self.directives, match.groups(), strict=True))
        offset = fields.get("z") or ""  # None if it is optional and missing
        day = f"{_year(fields)}-{_month(fields)}-{fields['d'].zfill(2)}"
        clock = ":".join((_hour(fields), fields.get("M", "0").zfill(2), fields.get("S", "0").zfill(2)))
        return f"{day}T{clock}.{fields.get('f', '').ljust(6, '0')}{offset}"


def _year(fields: dict[str, str]) -> str:
    """Return the year in four digits; `fields` maps strptime directives to the matched parts of a time."""
    if "Y" in fields:
        return fields["Y"]
    return ("19" if int(fields["y"]) >= PIVOT else "20") + fields["y"]


def _month(fields: dict[str, str]) -> str:
    """Return the month in two digits; `fields` maps strptime directives to the matched parts of a time."""
    number = fields["m"] if "m" in fields else str(MONTHS.index(fields["b"].lower()) + 1)
    return number.zfill(2)


def _hour(fields: dict[str, str]) -> str:
    """Return the hour in two digits, 00 to 23; `fields` maps strptime directives to the matched parts of a time."""
    if "I" not in fields:
        return fields.get("H", "0").zfill(2)
    return str(int(fields["I"]) % 12 + (12 if fields["p"].lower() == "pm" else 0)).zfill(2)


def read_time_format(text: str) -> TimeFormat:
    """Compile a time format in strptime directives to a regular expression; raise ValueError if it is invalid.

    >>> read_time_format("%d.%m.%Y %H:%M").iso("1.5.2024 8:05")
    '2024-05-01T08:05:00.000000'
    """
    if len(text) > _LONGEST or not text.isprintable():
        raise ValueError(f"{quoted(text)} is not a format of times")
    tokens = [(match[1], match[2]) for match in _TOKEN.finditer(text)]
    letters = [letter for letter, literal in tokens if not literal and letter != "%"]
    _check_directives(letters)
    pieces = []
    for index, (letter, literal) in enumerate(tokens):
        if literal or letter == "%":
            pieces.append(re.escape(literal or "%"))
            continue
        neighbours = [tokens[side] for side in (index - 1, index + 1) if 0 <= side < len(tokens)]
        adjacent = [name for name, text_token in neighbours if not text_token and name in _GROUPS and name not in "bpz"]
        pieces.append(f"({_two_digit_pattern(letter) if adjacent else _GROUPS[letter]})")
    return TimeFormat(text, f"{_BLANKS}{''.join(pieces)}{_BLANKS}", tuple(letters))


def _two_digit_pattern(letter: str) -> str:
    """Return the regular expression of exactly two digits for a strptime directive `letter` beside another number."""
    return _GROUPS[letter].replace("0?", "0").replace("[01]?", "[01]").replace("[0-5]?", "[0-5]")


def _check_directives(letters: list[str]) -> None:
    """Raise ValueError if a strptime directive is unknown or repeated, or if year, month or day is missing."""
    for letter in letters:
        if letter not in _GROUPS:
            raise ValueError(f"time_format does not take %{letter}; it takes {SUPPORTED_DIRECTIVES} and %%")
    parts = [_FIELD_OF_DIRECTIVE.get(letter, letter) for letter in letters]
    for part in parts:
        if parts.count(part) > 1:
            raise ValueError(
                f"time_format has two directives for one part of a time: {' '.join(f'%{letter}' for letter in letters)}"
            )
    missing = [directive for key, directive in (("year", "%Y"), ("month", "%m"), ("d", "%d")) if key not in parts]
    if missing:
        raise ValueError(f"time_format has no {' and no '.join(missing)}")
    if ("I" in letters) != ("p" in letters):
        raise ValueError("%I and %p go together")
