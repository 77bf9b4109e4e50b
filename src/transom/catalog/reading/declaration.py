"""Parse declarations such as `sensed (site:integer, temp:float) RATE 1 MIN SITES (1, 2)` (S30, S39)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from transom.catalog.reading.columns import NAME_HINT, ColumnDeclaration
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.wording import did_you_mean, quoted, suggest_kind

DECLARATION_EXAMPLE = "write for example sensed (site:integer, temp:float)"
EXTENT_KINDS = ("sensed", "pushed", "stored")
Item = TypeVar("Item")

_LONGEST_NUMBER = 40
_SIGNED_NAME = re.compile(r"[^\s:,()]+")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
      | (?P<number>[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?![\w.]))
      | (?P<word>\w+)
      | (?P<sign>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A parsed declaration; `rate` is the text after RATE, `sites` the values after SITES, with locations."""

    kind: str
    columns: tuple[ColumnDeclaration, ...]
    rate: tuple[str, Location] | None
    sites: tuple[tuple[object, Location], ...] | None
    sites_at: Location


@dataclass(frozen=True, slots=True)
class _Token:
    """A token of a declaration: its kind, its text, and where it is in the declaration."""

    kind: str
    text: str
    start: int
    end: int


def looks_like_declaration(text: str) -> bool:
    """Whether a text looks like the declaration of an extent: `name (...`, or a kind of extent such as sensed."""
    return re.match(r"\s*(\w+\s*\(|(sensed|pushed|stored)\b)", text) is not None


def read_declaration(text: str, at: Location) -> Declaration:
    """Parse the declaration of an extent; raise EntryError at the first token that is not expected.

    `at` is the location of the declaration in the catalog.
    """
    parser = _DeclarationParser(text, at)
    kind = parser.take("sensed, pushed or stored", "word")
    if kind.text not in EXTENT_KINDS:
        hint = suggest_kind(kind.text, EXTENT_KINDS)
        raise EntryError(f"expected sensed, pushed or stored, not {quoted(kind.text)}", parser.location(kind), hint)
    columns = parser.parse_list(parser.column)
    rate = parser.rate() if parser.accept("RATE") else None
    sites_at = parser.location(parser.next)
    sites = tuple(parser.parse_list(parser.site)) if parser.accept("SITES") else None
    if parser.next.kind != "end":
        hint = did_you_mean(parser.next.text, ["RATE", "SITES"])
        raise EntryError(f"did not expect {quoted(parser.next.text)}", parser.location(parser.next), hint)
    return Declaration(kind.text, tuple(columns), rate, sites, sites_at)


class _DeclarationParser:
    """A tokenizer and parser for one declaration."""

    def __init__(self, text: str, at: Location) -> None:
        """Start parsing a declaration at its first token; `at` is the location of its text in the catalog."""
        self.text = text.rstrip()
        self.at = at
        self.matches = _TOKEN.finditer(self.text)
        self.tokens: list[_Token] = []
        self.position = 0

    @property
    def next(self) -> _Token:
        """The next token, without consuming it; at the end, a token of kind `end`."""
        while len(self.tokens) <= self.position:
            self.tokens.append(self._read_token())
        return self.tokens[self.position]

    def _read_token(self) -> _Token:
        """Read the next token from the text; at the end of the text, return a token of kind `end`."""
        match = next(self.matches, None)
        if match is None:
            end = len(self.text)
            return _Token("end", "the end", max(0, end - 1), end)
        kind = str(match.lastgroup)
        return _Token(kind, match[kind], *match.span(kind))

    def location(self, token: _Token) -> Location:
        """Return the location of a token in the catalog."""
        return self.at.within(token.start, token.end)

    def take(self, expected: str, kind: str) -> _Token:
        """Consume and return the next token; if not of `kind`, raise an EntryError that names `expected`.

        The error says what was `expected`.
        """
        token = self.next
        if token.kind != kind:
            actual = token.text if token.kind == "end" else quoted(token.text)
            raise EntryError(f"expected {expected}, not {actual}", self.location(token), DECLARATION_EXAMPLE)
        self.position += 1
        return token

    def accept(self, word: str) -> bool:
        """Consume the next token if it is this keyword or sign, ignoring case; return whether it was consumed."""
        is_accepted = self.next.text.upper() == word and self.next.kind in ("word", "sign")
        self.position += is_accepted
        return is_accepted

    def parse_list(self, parse_item: Callable[[], Item]) -> list[Item]:
        """Parse a list in parentheses, separated by commas; `parse_item` parses one item."""
        self._take_sign("(")
        if self.accept(")"):
            return []
        items = [parse_item()]
        while self.accept(","):
            items.append(parse_item())
        self._take_sign(")", "',' or ')'")
        return items

    def column(self) -> ColumnDeclaration:
        """Parse an attribute, which is written `name:type`."""
        name = self.take("the name of an attribute", "word")
        if self.next.text in ("-", "."):
            name = self._name_with_signs(name)
            raise EntryError(f"{quoted(name.text)} cannot be the name of an attribute", self.location(name), NAME_HINT)
        self._take_sign(":")
        kind = self.take("a type", "word")
        return ColumnDeclaration(name.text, self.location(name), kind.text, self.location(kind))

    def _name_with_signs(self, name: _Token) -> _Token:
        """Extend a token to a name with signs, such as `my-col`, which ends before `:`, `,`, `)` or a space."""
        match = _SIGNED_NAME.match(self.text, name.start)
        end = match.end() if match else name.end
        return _Token("word", self.text[name.start : end], name.start, end)

    def site(self) -> tuple[object, Location]:
        """Parse the id of a site (a place with a sensor), a number or quoted text; return it and its location."""
        token = self.next
        at = self.location(token)
        self.position += 1
        if token.kind == "text":
            quote = token.text[0]
            return token.text[1:-1].replace(quote * 2, quote), at
        if token.kind == "number" and token.end - token.start <= _LONGEST_NUMBER:
            return float(token.text) if "." in token.text else int(token.text), at
        hint = "put names of sites in quotes" if token.kind == "word" else "write for example SITES (1, 2)"
        actual = token.text if token.kind == "end" else quoted(token.text)
        raise EntryError(f"expected a site, not {actual}", at, hint)

    def rate(self) -> tuple[str, Location]:
        """Consume the text of a rate, up to SITES or the end; return it, not parsed yet, with its location."""
        start = self.next.start
        end = start
        while self.next.kind != "end" and self.next.text.upper() != "SITES":
            end = self.next.end
            self.position += 1
        return self.text[start:end], self.at.within(start, max(end, start + 1))

    def _take_sign(self, sign: str, expected: str | None = None) -> None:
        """Consume a sign such as `(`; raise EntryError if the next token is another one.

        The error says what was `expected`, by default the sign.
        """
        if not self.accept(sign):
            actual = self.next.text if self.next.kind == "end" else quoted(self.next.text)
            hint = DECLARATION_EXAMPLE
            if sign == ")" and self.next.kind == "end":
                hint = "write ) where the list ends"
            raise EntryError(f"expected {expected or quoted(sign)}, not {actual}", self.location(self.next), hint)
