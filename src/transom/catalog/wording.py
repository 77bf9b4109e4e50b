"""Words for error messages: values cut short, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 40
_KINDS = {
    **dict.fromkeys(("stream", "streams", "event", "events", "push"), "pushed"),
    **dict.fromkeys(("table", "tables", "relation", "store", "static"), "stored"),
    **dict.fromkeys(("sensor", "sensors", "sense", "acquired"), "sensed"),
}
"""What other systems call the kinds of extents."""


def show(value: object) -> str:
    """A value as a message shows it: quoted if it is text, cut short if it is long."""
    if isinstance(value, dict):
        return "entries"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        words = repr(value)
    except ValueError:  # Python refuses to print a whole number of more than 4300 digits
        return "a very long number"
    return words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "..."


def quoted(name: object) -> str:
    """A name in quotes, cut short if it is long."""
    words = str(name)
    return repr(words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "...")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that a word is nearest to, if one is near; upper and lower case count as the same."""
    names = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word[:_LONGEST].lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def kind_meant(word: str, kinds: Iterable[str]) -> str | None:
    """A hint with the kind of extents that was probably meant."""
    meant = _KINDS.get(word.lower())
    return f"did you mean {meant}?" if meant else did_you_mean(word, kinds)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint with the nearest known name, or with the first few known names if none is near."""
    names = list(known)
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {near}?"
    if not names:
        return None
    more = ", ..." if len(names) > 12 else ""
    return f"known here: {', '.join(names[:12])}{more}"
