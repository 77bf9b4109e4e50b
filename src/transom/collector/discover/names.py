"""Turn headers, topics and paths into names of a catalog, and into YAML text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_LOWER = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe", "œ": "oe", "þ": "th", "ð": "d", "đ": "d"}
_SPELLED = {
    **_LOWER,
    **{letter.upper(): text.title() for letter, text in _LOWER.items() if letter != "ß"},
    "ẞ": "SS",
    "ł": "l",
    "Ł": "L",
    "ı": "i",
    "µ": "u",
    "μ": "u",
}
"""How to write some letters in ASCII; all other letters lose their accents."""


def valid_name(text: str, taken: Sequence[str] = ()) -> str:
    """Turn text into an ASCII name for the catalog; append a number if that name is among the `taken` ones.

    >>> valid_name("Getriebeöl_Temp [°C]")
    'Getriebeoel_Temp_C'
    """
    composed = unicodedata.normalize("NFC", text)
    spelled = re.sub("[ÄÖÜ](?=[A-ZÄÖÜ])", lambda umlaut: _SPELLED[umlaut[0]].upper(), composed)
    letters = unicodedata.normalize("NFKD", "".join(_SPELLED.get(letter, letter) for letter in spelled))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    name = re.sub(r"\W+", "_", plain, flags=re.ASCII).strip("_") or "source"
    name = f"_{name}" if name[0].isdigit() else name
    used, candidate, number = {other.lower() for other in taken}, name, 1
    while candidate.lower() in used:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def yaml_text(text: str) -> str:
    """Write text as a YAML scalar for the catalog, in single quotes unless it is a plain word or path."""
    return text if re.fullmatch(r"[A-Za-z_][\w./-]*", text, re.ASCII) else "'" + text.replace("'", "''") + "'"
