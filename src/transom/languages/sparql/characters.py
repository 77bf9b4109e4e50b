"""Character escapes: \\uXXXX anywhere in a query, and backslash escapes in strings."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from transom.errors import ParseError, Span

_CODEPOINT = re.compile(r"\\\\|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|[\ud800-\udfff]")
_IN_STRING = re.compile(r"\\(.)")
ESCAPED_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """Maps offsets of the unescaped text to the original text; from `starts[i]` on, they differ by `differences[i]`."""

    starts: tuple[int, ...] = (0,)
    differences: tuple[int, ...] = (0,)

    def original_offset(self, offset: int) -> int:
        """Convert an offset in the text after `unescape` to the offset of the same character in the original text."""
        return offset + self.differences[bisect_right(self.starts, offset) - 1]

    def span(self, span: Span) -> Span:
        """Convert a span of the text after `unescape` to the span of the same characters in the original text."""
        return Span(
            self.original_offset(span.start),
            max(self.original_offset(span.end - 1) + 1, self.original_offset(span.end)),
        )


def unescape(text: str) -> tuple[str, OffsetMap]:
    """Decode the Unicode escapes of a query; returns the decoded text, and a map from its offsets to the old ones."""
    pieces: list[str] = []
    starts, differences = [0], [0]
    end = length = 0
    for match in _CODEPOINT.finditer(text):
        digits = match[1] or match[2]
        if digits is None and match[0] == "\\\\":
            continue
        code_point = int(digits, 16) if digits else 0xD800
        if code_point > 0x10FFFF or 0xD800 <= code_point <= 0xDFFF:
            raise ParseError(
                "this escape is not a character",
                span=Span(*match.span()),
                text=text,
                hint="the last character is 10FFFF; D800 to DFFF are not characters",
            )
        pieces += [text[end : match.start()], chr(code_point)]
        length += match.start() - end + 1
        end = match.end()
        starts.append(length)
        differences.append(end - length)
    return "".join([*pieces, text[end:]]), OffsetMap(tuple(starts), tuple(differences))


def unquote(token: str) -> str:
    """Return the string that a quoted SPARQL token denotes: without its quotes, and with its escapes decoded."""
    width = 3 if token.startswith(('"""', "'''")) and len(token) >= 6 else 1
    return _IN_STRING.sub(lambda match: ESCAPED_LETTERS[match[1]], token[width:-width])


def quote(text: str) -> str:
    """Write `text` as a SPARQL string literal in double quotes, with escapes where needed."""
    names = {letter: "\\" + name for name, letter in ESCAPED_LETTERS.items() if letter != "'"}
    return '"' + "".join(names.get(letter, letter) for letter in text) + '"'
