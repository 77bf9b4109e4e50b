"""CQL text to syntax, in all the spellings of the document (C19)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from transom.errors import ParseError, Span
from transom.languages.cql.syntax import (
    Combination,
    Combine,
    Convert,
    Converter,
    Domain,
    First,
    Join,
    Place,
    Quantity,
    Query,
    Reach,
    Rows,
    Select,
    Slide,
    Source,
    Window,
)
from transom.languages.sql.parse import Clause, Clauses, parse_with, span_of, spanned, whole_number
from transom.languages.sql.syntax import Exists, InQuery, Name, Node

WORDS = {
    "CONVERTER": "RSTREAM, ISTREAM, DSTREAM",
    "CURLY": "a string",
    "DOMAIN": "SPACE, TIME",
    "_ROWS": "ROWS",
}

ELSEWHERE = {
    **dict.fromkeys(("RIGHT", "FULL"), "there is JOIN and LEFT JOIN; write the sides the other way round"),
    **dict.fromkeys(("CROSS", "NATURAL"), "list the sources with commas, and join them in WHERE"),
    "USING": "write ON and a condition",
    **dict.fromkeys(("ORDER", "ORDERBY"), "relations are bags, without an order"),
    **dict.fromkeys(("LIMIT", "OFFSET", "FETCH"), "a window such as [ROWS 10] holds the last ten rows"),
    "GROUPBY": "write GROUP BY",
    "OVER": "windows stand in brackets after a source, such as cars [RANGE '5 minutes']",
    "MINUS": "write EXCEPT",
}
"""What other dialects have here, and what to write instead."""

LENGTH = "write a number and a unit, such as '60 minutes' or '50 km'"
MOST_DIGITS = 18
_QUANTITY = re.compile(
    r"\s*(?P<amount>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[A-Za-z_][A-Za-z0-9_]*)\s*(?:(?P<word>[rs]attr)\s+(?P<domain>space|time)\s*)?",
    re.IGNORECASE | re.ASCII,
)


def parse(text: str) -> Query:
    """The syntax tree of a CQL query; ParseError with the place if it is none."""
    query: Query = parse_with("cql", _Builder(), text, WORDS, _advice)
    return query


def _advice(word: str, names: set[str]) -> str | None:
    """What to write instead of a word that does not fit."""
    upper = word.upper()
    in_window = bool(names & {"RANGE", "SLIDE", "RATTR", "SATTR"})
    if upper == "SELECT" and "a string" in names:
        return "a subquery stands in FROM, after IN or after EXISTS"
    if in_window and upper == "FROM":
        return "windows of CQL are written [RANGE '5 minutes', SLIDE '1 minute']"
    if in_window and upper == "SCAN":
        return "a table needs no window; a stream takes [RANGE ..], [ROWS ..], [NOW] or [UNBOUNDED]"
    if word in "],[" and names == {"a name"}:
        return LENGTH
    if word == "," and names == {"FROM"}:
        return "a converter stands around the whole select list"
    return ELSEWHERE.get(upper)


class _Alias(NamedTuple):
    """An alias and its place."""

    name: str
    span: Span


class _Measured(NamedTuple):
    """A quantity, and the domain that stands inside its quotes."""

    quantity: Quantity
    domain: tuple[str, Domain] | None = None


@v_args(meta=True)
class _Builder(Clauses):
    """Builds the clauses of a query."""

    def start(self, meta: Meta, children: list[Any]) -> Query:
        query: Query = children[0]
        return query

    def combine(self, meta: Meta, children: list[Any]) -> Query:
        left, word, *every, right = children
        return Combine(Combination(word.upper()), bool(every), left, right, spanned(meta), span_of(word))

    def convert(self, meta: Meta, children: list[Any]) -> Query:
        return Convert(converter_of(children[0]), children[1], spanned(meta))

    def select(self, meta: Meta, children: list[Clause]) -> Query:
        clauses: dict[str, Any] = {name: content for fields, _ in children for name, content in fields.items()}
        return Select(span=spanned(meta), starts=tuple(start for _, start in children), **clauses)

    def select_clause(self, meta: Meta, children: list[Any]) -> Clause:
        *words, items = children
        fields: dict[str, Any] = {"items": (), "star_span": items} if isinstance(items, Span) else {"items": items}
        for word in words:
            if word.type == "CONVERTER":
                fields |= {"converter": converter_of(word), "head_span": span_of(word)}
            elif fields.get("distinct"):
                raise ParseError("DISTINCT stands here twice", span=span_of(word), hint="leave one of them out")
            else:
                fields["distinct"] = True
        return fields, meta.start_pos

    def item_list(self, meta: Meta, children: list[Any]) -> tuple[Any, ...]:
        return tuple(children)

    def from_clause(self, meta: Meta, children: list[Any]) -> Clause:
        return {"tables": tuple(children)}, meta.start_pos

    def first_clause(self, meta: Meta, children: list[Any]) -> Clause:
        count, *per, by = children
        return {"first": First(whole_number(count), by, tuple(per), spanned(meta))}, meta.start_pos

    def join(self, meta: Meta, children: list[Any]) -> Join:
        left, *words, right, on = children
        return Join(left, right, on, any(word.type == "LEFT" for word in words), spanned(meta))

    def source(self, meta: Meta, children: list[Any]) -> Source:
        aliases = [c for c in children if isinstance(c, _Alias)]
        if isinstance(children[0], str):
            if children[1] != "=":
                raise ParseError(f"'{children[1]}' is not expected here", span=span_of(children[1]), hint="write R=S")
            aliases.insert(0, _Alias(children[0], spanned(meta)))
            children = children[2:]
        if len(aliases) > 1:
            raise ParseError("two aliases for one source", span=aliases[1].span, hint="keep one of them")
        window = next((c for c in children if isinstance(c, Window)), None)
        input, span = children[0]
        return Source(input, aliases[0].name if aliases else None, window, spanned(meta), span)

    def subquery(self, meta: Meta, children: list[Any]) -> tuple[Query, Span]:
        return (children[0], spanned(meta))

    def extent(self, meta: Meta, children: list[Any]) -> tuple[str, Span]:
        return (children[0], spanned(meta))

    def alias(self, meta: Meta, children: list[Any]) -> _Alias:
        return _Alias(children[0], spanned(meta))

    def window(self, meta: Meta, children: list[Any]) -> Window:
        [(keys, parts)] = children if isinstance(children[0], tuple) else [((), children[0])]
        now = any(isinstance(part, Token) and part.type == "NOW" for part in parts)
        reaches = tuple(part for part in parts if isinstance(part, Reach))
        slides = [part for part in parts if isinstance(part, Slide)]
        if len(slides) > 1:
            raise ParseError("two slides in one window", span=slides[1].span, hint="keep one SLIDE")
        return Window(keys, reaches, slides[0] if slides else None, now, spanned(meta))

    def keyed(self, meta: Meta, children: list[Any]) -> tuple[tuple[Name, ...], list[Any]]:
        name, rest = children
        return ((name, *rest[0]), rest[1]) if isinstance(rest, tuple) else ((name,), rest)

    def frame(self, meta: Meta, children: list[Any]) -> list[Any]:
        return children[0] if isinstance(children[0], list) else children

    def parts(self, meta: Meta, children: list[Any]) -> list[Any]:
        unbounded = next((part for part in children if isinstance(part, Token)), None)
        if unbounded is not None and any(isinstance(part, Reach) for part in children):
            raise ParseError("a range that ends and one that does not", span=span_of(unbounded), hint="keep one")
        if not any(isinstance(part, Reach | Token) for part in children):
            raise ParseError(
                "a slide without a range",
                span=spanned(meta),
                hint="write [RANGE .., SLIDE ..] or [UNBOUNDED, SLIDE ..]",
            )
        return children

    def no_reach(self, meta: Meta, children: list[Any]) -> Token:
        token: Token = children[0]
        return token

    def reach(self, meta: Meta, children: list[Any]) -> Reach:
        measured, domain = measured_in(children, "RATTR")
        return Reach(measured, domain, spanned(meta))

    def region(self, meta: Meta, children: list[Any]) -> Reach:
        place = next(c for c in children if isinstance(c, Place))
        word = children[-1]
        domain = Domain(word.upper()) if isinstance(word, Token) and word.type == "DOMAIN" else None
        return Reach(place, domain, spanned(meta))

    def place(self, meta: Meta, children: list[str]) -> Place:
        return Place(children[0], spanned(meta))

    def rows_reach(self, meta: Meta, children: list[Any]) -> Reach:
        return Reach(Rows(whole_number(children[0]), span_of(children[0])), None, spanned(meta))

    def slide(self, meta: Meta, children: list[Any]) -> Slide:
        measured, domain = measured_in(children, "SATTR")
        return Slide(measured, domain, spanned(meta))

    def rows_slide(self, meta: Meta, children: list[Any]) -> Slide:
        return Slide(Rows(whole_number(children[-1]), span_of(children[-1])), None, spanned(meta))

    def quantity(self, meta: Meta, children: list[Token]) -> _Measured:
        if len(children) == 2:
            amount = exact(str(children[0]), span_of(children[0]))
            return _Measured(Quantity(amount, children[1].lower(), spanned(meta), span_of(children[1])))
        found = _QUANTITY.fullmatch(children[0], 1, len(children[0]) - 1)
        if found is None:
            raise ParseError("neither a length of time nor a distance", span=spanned(meta), hint=LENGTH)
        begin = meta.start_pos
        domain = (found["word"].upper(), Domain(found["domain"].upper())) if found["word"] else None
        quantity = Quantity(
            exact(found["amount"], spanned(meta)),
            found["unit"].lower(),
            spanned(meta),
            Span(begin + found.start("unit"), begin + found.end("unit")),
        )
        return _Measured(quantity, domain)

    def in_query(self, meta: Meta, children: list[Any]) -> Node:
        return InQuery(children[0], children[1], False, spanned(meta))

    def not_in_query(self, meta: Meta, children: list[Any]) -> Node:
        return InQuery(children[0], children[1], True, spanned(meta))

    def exists(self, meta: Meta, children: list[Any]) -> Node:
        return Exists(children[0], spanned(meta))


def converter_of(token: Token) -> Converter:
    """The converter that a word names."""
    return Converter[token.upper()]


def measured_in(children: list[Any], word: str) -> tuple[Quantity, Domain | None]:
    """A quantity and its domain, which the document once writes inside the quotes."""
    measured: _Measured = next(c for c in children if isinstance(c, _Measured))
    after = next((c for c in children if isinstance(c, Token) and c.type == "DOMAIN"), None)
    if measured.domain is None:
        return measured.quantity, None if after is None else Domain(after.upper())
    if after is not None or measured.domain[0] != word:
        raise ParseError(
            f"{measured.domain[0]} inside the quotes", span=measured.quantity.span, hint=f"write {word} behind them"
        )
    return measured.quantity, measured.domain[1]


def exact(text: str, span: Span) -> Decimal:
    """A number as it is written, if it has not too many digits."""
    number = Decimal(text)
    if number.adjusted() > MOST_DIGITS or number.as_tuple().exponent < -MOST_DIGITS:  # type: ignore[operator]
        raise ParseError("a number of more digits than a length has", span=span, hint=LENGTH)
    return number
