"""Hints for queries in C-SPARQL, CQELS-QL and RSP-QL: where their windows and registrations go here."""

from __future__ import annotations

import re

from transom.languages.sql.type_messages import shorten

UNITS = {
    **dict.fromkeys(("MILLISECOND", "MILLISECONDS", "MILLI", "MILLIS", "MSEC", "MSECS"), "MS"),
    **dict.fromkeys(("SEC", "SECS", "SECOND", "SECONDS"), "S"),
    **dict.fromkeys(("M", "MIN", "MINS", "MINUTES"), "MINUTE"),
    **dict.fromkeys(("H", "HR", "HRS", "HOURS"), "HOUR"),
    **dict.fromkeys(("D", "DAYS"), "DAY"),
    **dict.fromkeys(("W", "WEEKS"), "WEEK"),
}
"""Other spellings of units of time, and the units here."""

ANY_WINDOW = "WINDOW RANGE 10 S SLIDE 1 S, WINDOW RANGE 10 S FIXED or WINDOW ELEMS 10"
ONE_WINDOW = "WINDOW RANGE 10 S SLIDE 1 S"

CALENDAR = (
    "a window of SPARQL has a fixed length; SNEEql and CQL have calendar windows, with SLIDE and AT 'Europe/Berlin'"
)

_UNIT = "a unit: MS, S, MINUTE, HOUR, DAY or WEEK"
_ISO_UNITS = {"W": "WEEK", "D": "DAY", "H": "HOUR", "M": "MINUTE", "S": "S"}
_NAME = r"<[^<>\s]{0,60}>|[\w-]{0,30}:[\w.-]{0,30}"
_BRACKETS = re.compile(r"\s*\[\s*([^\]]{1,60}?)\s*\]")
_LENGTH = r"(?:(?P<{0}>\d{{1,9}})\s*(?P<{0}_unit>[A-Za-z]+)|(?P<{0}_iso>PT\d{{1,9}}[HMS]|P\d{{1,9}}[DW]))"
_RANGE = re.compile(
    rf"RANGE\s+{_LENGTH.format('width')}(?:\s*,?\s+(?:(?:STEP|SLIDE)\s+{_LENGTH.format('slide')}|(?P<fixed>TUMBLING)))?",
    re.IGNORECASE,
)
_ELEMS = re.compile(r"(?:RANGE\s+)?TRIPLES\s+(\d{1,9})", re.IGNORECASE)
_NAMED_WINDOW = re.compile(rf"\s+(?:{_NAME})\s+ON\s+(?:STREAM\s+)?(?P<stream>{_NAME})", re.IGNORECASE)
_STREAM = re.compile(rf"\s+(?P<stream>{_NAME})")
_IN_WINDOW = re.compile(r"WINDOW\s+RANGE\s[^{}<>]{1,60}\Z", re.IGNORECASE)
_REGISTRATION = re.compile(r"REGISTER\s+(?:QUERY|[RID]?STREAM)", re.IGNORECASE)
_ISO = re.compile(r"PT\d{1,9}[HMS]|P\d{1,9}[DW]", re.IGNORECASE)


def dialect_hint(word: str, expected_tokens: set[str], text_before: str, text_from_word: str) -> str | None:
    """Return a hint if `word`, where `expected_tokens` fit, is syntax of C-SPARQL, CQELS-QL or RSP-QL, else None.

    `expected_tokens` names the tokens that fit; `text_from_word` begins with the word.
    """
    upper = word.upper()
    after = text_from_word[len(word) :]
    if upper == "REGISTER" and "SELECT" in expected_tokens:
        registration = _REGISTRATION.match(text_from_word)
        return f"leave out {registration[0] if registration else word} .. AS: each file is one query, named by the file"
    if _UNIT in expected_tokens and upper in UNITS:
        return f"did you mean {UNITS[upper]}?"
    if (_UNIT in expected_tokens and re.fullmatch("(MONTH|YEAR)S?", upper)) or (
        upper == "AT" and _IN_WINDOW.search(text_before)
    ):
        return CALENDAR
    if "SLIDE" in expected_tokens and upper == "STEP":
        return "did you mean SLIDE?"
    if expected_tokens == {"a number"} and _ISO.fullmatch(word):
        return f"write {_iso_length(word)}"
    if "WINDOW" in expected_tokens and word == "[":
        return f"write {counterpart(text_from_word) or ANY_WINDOW}"
    if upper == "WINDOW" and "STREAM" in expected_tokens and text_before.upper().endswith("NAMED"):
        return _named_window_hint(after)
    if text_before.upper().endswith("WINDOW") and expected_tokens == {"ELEMS", "RANGE"} and re.fullmatch(_NAME, word):
        return f"write GRAPH and the IRI of the stream instead of WINDOW {word}"
    if upper == "STREAM" and "OPTIONAL" in expected_tokens:
        stream = _STREAM.match(after)
        name = shorten(stream["stream"]) if stream else ":rooms"
        window = counterpart(after[stream.end() :]) if stream else None
        return f"streams stand before WHERE: FROM STREAM {name} {window or ONE_WINDOW}"
    return None


def counterpart(text: str) -> str | None:
    """Translate another dialect's window such as `[RANGE 10s]` to Streaming SPARQL; returns None if unknown.

    >>> counterpart("[RANGE 10s STEP 5s]")
    'WINDOW RANGE 10 S SLIDE 5 S'
    >>> counterpart("[RANGE PT1H]")
    'WINDOW RANGE 1 HOUR SLIDE 1 HOUR'
    """
    brackets = _BRACKETS.match(text)
    if brackets is None:
        return None
    elems = _ELEMS.fullmatch(brackets[1])
    if elems is not None:
        return f"WINDOW ELEMS {elems[1]}"
    time = _RANGE.fullmatch(brackets[1])
    width = None if time is None else _length(time, "width")
    if time is None or width is None:
        return None
    if time["fixed"]:
        return f"WINDOW RANGE {width} FIXED"
    slide = _length(time, "slide")
    written = time["slide"] is not None or time["slide_iso"] is not None
    return None if written and slide is None else f"WINDOW RANGE {width} SLIDE {slide or _one_unit(width)}"


def _length(match: re.Match[str], name: str) -> str | None:
    """Convert the length in regex group `name` of a matched window, such as 10s, to `10 S`; None if absent or unknown.

    `name` is the length's group in the match. None means that there is no length, or an unknown unit.
    """
    if match[f"{name}_iso"]:
        return _iso_length(match[f"{name}_iso"])
    if match[name] is None:
        return None
    unit = match[f"{name}_unit"].upper()
    known = UNITS.get(unit, unit if unit in UNITS.values() else None)
    return None if known is None else f"{match[name]} {known}"


def _one_unit(length: str) -> str:
    """Return one unit of a length, such as `1 S` for `10 S`: the slide of a window that does not have its own."""
    return f"1 {length.split()[1]}"


def _iso_length(text: str) -> str:
    """Convert an ISO 8601 duration such as PT10S to Streaming SPARQL's notation for windows, such as 10 S."""
    return f"{text[:-1].upper().lstrip('PT')} {_ISO_UNITS[text[-1].upper()]}"


def _named_window_hint(text_after_window: str) -> str:
    """Return a hint for an RSP-QL named window: how to write it as FROM NAMED STREAM in Streaming SPARQL.

    `text_after_window` is the text after the keyword WINDOW.
    """
    named = _NAMED_WINDOW.match(text_after_window)
    stream = shorten(named["stream"]) if named else ":rooms"
    window = counterpart(text_after_window[named.end() :]) if named else None
    return f"write FROM NAMED STREAM {stream} {window or ONE_WINDOW}, and GRAPH {stream} instead of WINDOW in WHERE"
