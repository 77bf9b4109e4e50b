r"""Text from data and queries, made safe to print: control characters are escaped, so that none reaches a terminal.

Escaped are the control characters of ASCII and Latin-1 (`\x1b`), which move the cursor, change the title or answer
for the keyboard; the marks that reverse the direction of text; line separators of Unicode; spaces without width and
byte order marks; and lone surrogates.
"""

from __future__ import annotations

import re

_INVISIBLE = "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff"
CONTROL = f"\x00-\x1f{_INVISIBLE}"
"""The characters of a class that are escaped in a cell, for Python and for Java."""
_IN_CELL = re.compile(f"[{CONTROL}\ud800-\udfff]")
_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f{_INVISIBLE}\ud800-\udfff]")
SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape(text: str) -> str:
    r"""A piece of data in one line: all control characters are escaped, line breaks and tabs too.

    >>> print(escape("a\x1b[2Jb\n"))
    a\x1b[2Jb\n
    """
    return _IN_CELL.sub(lambda found: _escaped(found[0]), text)


def escape_lines(text: str) -> str:
    """Several lines in words: line breaks and tabs stay."""
    return _IN_LINES.sub(lambda found: _escaped(found[0]), text)


def escape_json(text: str) -> str:
    r"""Lines of JSON or N-Quads with the same meaning: both read `\u001b` as the character."""
    return _IN_LINES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(sign: str) -> str:
    code = ord(sign)
    return SHORT.get(sign) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
