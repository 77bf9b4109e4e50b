r"""Escape control characters in text from data and queries, so that none reaches a terminal.

Escaped are the control characters of ASCII and Latin-1 (`\x1b`), which can move the cursor, change the window title or
fake keyboard input; bidirectional marks; Unicode line separators; zero-width spaces and byte order marks; and lone
surrogates.
"""

from __future__ import annotations

import re

_INVISIBLE = "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff"
CONTROL_CHARACTERS = f"\x00-\x1f{_INVISIBLE}"
"""The content of a regex character class, for Python and Java: the characters that are escaped in a cell."""
_UNSAFE_IN_CELL = re.compile(f"[{CONTROL_CHARACTERS}\ud800-\udfff]")
_UNSAFE_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f{_INVISIBLE}\ud800-\udfff]")
SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape(text: str) -> str:
    r"""Escape all control characters of a value, including line breaks and tabs, so that it fits on one line.

    >>> print(escape("a\x1b[2Jb\n"))
    a\x1b[2Jb\n
    """
    return _UNSAFE_IN_CELL.sub(lambda match: _escape_character(match[0]), text)


def escape_lines(text: str) -> str:
    """Escape control characters in text of several lines, except line breaks and tabs."""
    return _UNSAFE_IN_LINES.sub(lambda match: _escape_character(match[0]), text)


def escape_json(text: str) -> str:
    r"""Escape control characters in JSON or N-Quads as `\u001b`, which both formats read as the character."""
    return _UNSAFE_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape_character(character: str) -> str:
    """Return the escape of one control character, such as `\\x1b`."""
    code = ord(character)
    return SHORT_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
