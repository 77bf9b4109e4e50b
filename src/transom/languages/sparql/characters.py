"""Escapes of single characters: anywhere in a text, and in strings."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from transom.errors import ParseError, Span

_CODEPOINT = re.compile(r"\\\\|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|[\ud800-\udfff]")
_IN_STRING = re.compile(r"\\(.)")
LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class Places:
    """Where the characters of a text stood before escapes were undone; from `starts[i]` on all are moved by `by[i]`."""

    starts: tuple[int, ...] = (0,)
    by: tuple[int, ...] = (0,)

    def before(self, offset: int) -> int:
        """The offset of a character in the user's own text."""
        return offset + self.by[bisect_right(self.starts, offset) - 1]

    def span(self, span: Span) -> Span:
        """A span in the user's own text."""
        return Span(self.before(span.start), max(self.before(span.end - 1) + 1, self.before(span.end)))


def unescape(text: str) -> tuple[str, Places]:
    """A text with its \\uXXXX and \\UXXXXXXXX undone, as SPARQL asks before anything else is read."""
    pieces: list[str] = []
    starts, by = [0], [0]
    end = length = 0
    for found in _CODEPOINT.finditer(text):
        digits = found[1] or found[2]
        if digits is None and found[0] == "\\\\":
            continue
        code = int(digits, 16) if digits else 0xD800
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ParseError(
                "no character has this number",
                span=Span(*found.span()),
                text=text,
                hint="characters go up to 10FFFF, without D800 to DFFF",
            )
        pieces += [text[end : found.start()], chr(code)]
        length += found.start() - end + 1
        end = found.end()
        starts.append(length)
        by.append(end - length)
    return "".join([*pieces, text[end:]]), Places(tuple(starts), tuple(by))


def unquote(token: str) -> str:
    """The text between quotes, its escapes undone."""
    width = 3 if token.startswith(('"""', "'''")) and len(token) >= 6 else 1
    return _IN_STRING.sub(lambda found: LETTERS[found[1]], token[width:-width])


def quote(text: str) -> str:
    """A text in double quotes."""
    names = {letter: "\\" + name for name, letter in LETTERS.items() if letter != "'"}
    return '"' + "".join(names.get(letter, letter) for letter in text) + '"'
