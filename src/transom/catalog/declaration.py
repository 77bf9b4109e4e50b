"""Declarations as the document writes them: `sensed (site:integer, temp:float) RATE 1 MIN SITES (1, 2)` (S30, S39)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from transom.catalog.columns import NAMES, Column
from transom.catalog.places import At, Misfit
from transom.catalog.wording import did_you_mean, kind_meant, quoted

EXAMPLE = "write for example sensed (site:integer, temp:float)"
KINDS = ("sensed", "pushed", "stored")
T = TypeVar("T")

_LONGEST_NUMBER = 40
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
    """The parts of a declaration; `rate` is the text after RATE, `sites` the values after SITES, with their places."""

    kind: str
    columns: tuple[Column, ...]
    rate: tuple[str, At] | None
    sites: tuple[tuple[object, At], ...] | None
    sites_at: At


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    words: str
    start: int
    end: int


def looks_declared(text: str) -> bool:
    """Whether a text is meant to be a declaration: a word and a parenthesis, or a kind of extents."""
    return re.match(r"\s*(\w+\s*\(|(sensed|pushed|stored)\b)", text) is not None


def read_declaration(text: str, at: At) -> Declaration:
    """The parts of a declaration; Misfit at the first word that does not belong."""
    reader = _Reader(text, at)
    kind = reader.take("sensed, pushed or stored", "word")
    if kind.words not in KINDS:
        hint = kind_meant(kind.words, KINDS)
        raise Misfit(f"expected sensed, pushed or stored, not {quoted(kind.words)}", reader.place(kind), hint)
    columns = reader.listed(reader.column)
    rate = reader.rate() if reader.accept("RATE") else None
    sites_at = reader.place(reader.next)
    sites = tuple(reader.listed(reader.site)) if reader.accept("SITES") else None
    if reader.next.kind != "end":
        hint = did_you_mean(reader.next.words, ["RATE", "SITES"])
        raise Misfit(f"did not expect {quoted(reader.next.words)}", reader.place(reader.next), hint)
    return Declaration(kind.words, tuple(columns), rate, sites, sites_at)


class _Reader:
    """The words of a declaration, taken one by one."""

    def __init__(self, text: str, at: At) -> None:
        self.text = text.rstrip()
        self.at = at
        self.words = _TOKEN.finditer(self.text)
        self.tokens: list[_Token] = []
        self.passed = 0

    @property
    def next(self) -> _Token:
        """The word that comes next; at the end, a word that says so. What is not reached is not read."""
        while len(self.tokens) <= self.passed:
            self.tokens.append(self._read())
        return self.tokens[self.passed]

    def _read(self) -> _Token:
        found = next(self.words, None)
        if found is None:
            end = len(self.text)
            return _Token("end", "the end", max(0, end - 1), end)
        kind = str(found.lastgroup)
        return _Token(kind, found[kind], *found.span(kind))

    def place(self, token: _Token) -> At:
        """Where a word stands."""
        return self.at.within(token.start, token.end)

    def take(self, expected: str, kind: str) -> _Token:
        """The next word, which has to be of a kind."""
        token = self.next
        if token.kind != kind:
            found = token.words if token.kind == "end" else quoted(token.words)
            raise Misfit(f"expected {expected}, not {found}", self.place(token), EXAMPLE)
        self.passed += 1
        return token

    def accept(self, word: str) -> bool:
        """Whether the next word is this one, in upper or lower case; it is then taken."""
        here = self.next.words.upper() == word and self.next.kind in ("word", "sign")
        self.passed += here
        return here

    def listed(self, item: Callable[[], T]) -> list[T]:
        """Items in parentheses with commas between them."""
        self._sign("(")
        if self.accept(")"):
            return []
        items = [item()]
        while self.accept(","):
            items.append(item())
        self._sign(")", ", or )")
        return items

    def column(self) -> Column:
        """`name:type`."""
        name = self.take("the name of an attribute", "word")
        self._sign(":")
        kind = self.take("a type", "word")
        return Column(name.words, self.place(name), kind.words, self.place(kind))

    def site(self) -> tuple[object, At]:
        """A number, or text in quotes."""
        token = self.next
        at = self.place(token)
        self.passed += 1
        if token.kind == "text":
            quote = token.words[0]
            return token.words[1:-1].replace(quote * 2, quote), at
        if token.kind == "number" and token.end - token.start <= _LONGEST_NUMBER:
            return float(token.words) if "." in token.words else int(token.words), at
        hint = "put names of sites in quotes" if token.kind == "word" else "write for example SITES (1, 2)"
        found = token.words if token.kind == "end" else quoted(token.words)
        raise Misfit(f"expected a site, not {found}", at, hint)

    def rate(self) -> tuple[str, At]:
        """The text up to SITES or to the end."""
        start = self.next.start
        end = start
        while self.next.kind != "end" and self.next.words.upper() != "SITES":
            end = self.next.end
            self.passed += 1
        return self.text[start:end], self.at.within(start, max(end, start + 1))

    def _sign(self, sign: str, expected: str | None = None) -> None:
        if not self.accept(sign):
            found = self.next.words if self.next.kind == "end" else quoted(self.next.words)
            hint = EXAMPLE
            if sign == ")" and self.next.kind == "end":
                hint = "write ) where the list ends"
            elif sign == ":" and self.next.words in ("-", "."):
                hint = NAMES
            raise Misfit(f"expected {expected or sign}, not {found}", self.place(self.next), hint)
