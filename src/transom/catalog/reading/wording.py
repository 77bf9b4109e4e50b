"""Texts for error messages: shortened values, and suggestions for misspelled names."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from datetime import date

_LONGEST = 40
_KINDS = {
    **dict.fromkeys(("stream", "streams", "event", "events", "push"), "pushed"),
    **dict.fromkeys(("table", "tables", "relation", "store", "static"), "stored"),
    **dict.fromkeys(("sensor", "sensors", "sense", "acquired"), "sensed"),
}
"""Names that other systems use for the kinds of extents."""

_SETTINGS = {
    **dict.fromkeys(("bootstrap.servers", "bootstrap_servers", "brokers", "bootstrap"), "servers"),
    **dict.fromkeys(("subscribe", "topics"), "topic"),
    **dict.fromkeys(("watermark", "delay", "allowed_lateness", "max_lateness", "out_of_orderness"), "lateness"),
    **dict.fromkeys(("event_time", "rowtime", "time_column", "time_field", "timestamp_column"), "time"),
    **dict.fromkeys(("sep", "separator"), "delimiter"),
    **dict.fromkeys(("timestamp_format", "date_format", "datetime_format"), "time_format"),
    **dict.fromkeys(("rename", "mapping", "columns"), "fields"),
    **dict.fromkeys(("idle_timeout", "idleness"), "idle_after"),
    **dict.fromkeys(("file", "glob"), "path"),
}
"""Settings of other systems, and their names in a catalog."""


POSITION_EXAMPLE = "`position: {lon: lon, lat: lat}`"
"""How a catalog declares the columns of positions, for hints."""


def display_value(value: object) -> str:
    """Format a value for an error message: text quoted, a time in ISO 8601, anything long shortened."""
    if isinstance(value, dict):
        return "entries"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat().replace("+00:00", "Z")
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of more than 4300 digits
        return "a very long number"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def quoted(name: object) -> str:
    """Quote a name for an error message, shortened if it is long."""
    text = str(name)
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to a word, ignoring case, for a hint; None if none is similar."""
    names = {name.lower(): name for name in candidates}
    matches = difflib.get_close_matches(word[:_LONGEST].lower(), names, n=1, cutoff=0.6)
    return names[matches[0]] if matches else None


def foreign_setting(key: str, names: Collection[str]) -> str | None:
    """Return a hint on which of the allowed `names` an unknown `key` of another system means; None if unclear.

    >>> foreign_setting("bootstrap.servers", ["servers", "topic", "options"])
    'did you mean servers?'
    """
    setting = _SETTINGS.get(key.lower())
    if setting in names:
        return f"did you mean {setting}?"
    if setting == "lateness":
        return "write lateness beside `source`: it belongs to the extent, not to its source"
    if "." in key and "options" in names:
        return f"write it under options: options: {{{quoted(key)[1:-1]}: ...}}"
    return None


def suggest_kind(word: str, kinds: Iterable[str]) -> str | None:
    """Return a hint for an unknown kind of extent, such as `table`, with the kind that may be meant."""
    kind = _KINDS.get(word.lower())
    return f"did you mean {kind}?" if kind else did_you_mean(word, kinds)


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Return a hint with the candidate most similar to a word, or else with the first ones; None if there are none."""
    names = list(candidates)
    nearest_name = nearest(word, names)
    if nearest_name is not None:
        return f"did you mean {nearest_name}?"
    if not names:
        return None
    more = ", ..." if len(names) > 12 else ""
    return f"write {'one of ' if len(names) > 1 else ''}{', '.join(names[:12])}{more}"


def extent_line(name: str) -> str:
    """Return the advice to declare an extent (source or table) of this name, with an example catalog line."""
    return f"declare under extents: {_short_name(name)}: pushed (x:float)"


def region_line(name: str) -> str:
    """Return the hint to declare a region of this name, with an example of the line in a catalog."""
    return f"declare under regions: {_short_name(name)}: {{polygon: [[0, 0], [9, 0], [9, 9]]}}"


def _short_name(name: str) -> str:
    """Return a name as it is for use in an example, or NAME if it is long or no ASCII identifier."""
    return name if name.isidentifier() and name.isascii() and len(name) <= 40 else "NAME"


def or_declare(word: str, candidates: Iterable[str], line: str) -> str:
    """Return a hint for an unknown name: a similar name, or else the known names and the advice `line`."""
    names = list(candidates)
    if not names:
        return line
    if nearest(word, names) is not None:
        return did_you_mean(word, names) or line
    return f"the catalog has {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}; or {line}"
