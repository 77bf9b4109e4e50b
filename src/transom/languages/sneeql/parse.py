"""SNEEql text to syntax."""

from __future__ import annotations

from typing import Any, NamedTuple

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from transom.errors import ParseError, Span
from transom.languages.sneeql.syntax import (
    Convert,
    Converter,
    Query,
    RangeWindow,
    ScanWindow,
    Select,
    Source,
    Unit,
)
from transom.languages.sql.parse import Clause, Clauses, parse_with, span_of, spanned, whole_number

WORDS = {
    "UNIT": "a unit (SEC, MIN, HOUR, in windows also ROWS)",
    "CONVERTER": "RSTREAM, ISTREAM, DSTREAM",
}

ELSEWHERE = {
    "JOIN": "list the sources with commas, and join them in WHERE",
    "ON": "conditions stand in WHERE",
    "ORDER": "windows are bags, without an order",
    **dict.fromkeys(
        ("LIMIT", "OFFSET", "FETCH"),
        "a row window such as [FROM NOW-9 TO NOW SLIDE 1 ROWS] holds the last ten rows",
    ),
    **dict.fromkeys(("UNION", "EXCEPT", "INTERSECT"), "ask two queries"),
    "GROUPBY": "write GROUP BY",
    "ORDERBY": "windows are bags, without an order",
    "OVER": "windows stand in brackets after a source, such as road [FROM NOW-5 TO NOW SLIDE 1 MIN]",
}
"""What other dialects have here, and what to write instead."""


def parse(text: str) -> Query:
    """The syntax tree of a SNEEql query; ParseError with the place if it is none."""
    query: Query = parse_with("sneeql", _Builder(), text, WORDS, _advice)
    return query


def _advice(word: str, names: set[str]) -> str | None:
    """What to write instead of a word that does not fit."""
    in_window = "TO" in names or "SLIDE" in names
    if in_window and word == "+":
        return "a window reaches back from NOW: write NOW or NOW-n"
    if in_window and word.upper() in ("SEC", "MIN", "HOUR", "ROW", "ROWS"):
        return "a window has one unit, which stands after SLIDE"
    if word.upper() == "SELECT" and "a string" in names:
        return "a subquery stands in parentheses in FROM"
    if "WHERE" in names and word.upper() in ("LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "NATURAL"):
        return ELSEWHERE["JOIN"]
    return ELSEWHERE.get(word.upper())


class _Alias(NamedTuple):
    """An alias and its place."""

    name: str
    span: Span


@v_args(meta=True)
class _Builder(Clauses):
    """Builds the clauses of a query."""

    def start(self, meta: Meta, children: list[Any]) -> Query:
        query: Query = children[0]
        return query

    def convert(self, meta: Meta, children: list[Any]) -> Query:
        return Convert(Converter(children[0].upper()), children[1], spanned(meta))

    def select(self, meta: Meta, children: list[Clause]) -> Query:
        clauses: dict[str, Any] = {name: content for fields, _ in children for name, content in fields.items()}
        starts = tuple(start for _, start in children)
        return Select(span=spanned(meta), starts=starts, **clauses)

    def select_clause(self, meta: Meta, children: list[Any]) -> Clause:
        if isinstance(children[0], Span):
            return {"items": (), "star_span": children[0]}, meta.start_pos
        return {"items": tuple(children)}, meta.start_pos

    def from_clause(self, meta: Meta, children: list[Source]) -> Clause:
        return {"sources": tuple(children)}, meta.start_pos

    def source(self, meta: Meta, children: list[Any]) -> Source:
        aliases = [c for c in children if isinstance(c, _Alias)]
        if len(aliases) > 1:
            raise ParseError("two aliases for one source", span=aliases[1].span, hint="keep one AS")
        windows = [c for c in children if isinstance(c, RangeWindow | ScanWindow)]
        return Source(
            children[0][0],
            aliases[0].name if aliases else None,
            windows[0] if windows else None,
            spanned(meta),
            children[0][1],
        )

    def subquery(self, meta: Meta, children: list[Any]) -> tuple[Query, Any]:
        return (children[0], spanned(meta))

    def extent(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        return (children[0], spanned(meta))

    def alias(self, meta: Meta, children: list[Any]) -> _Alias:
        return _Alias(children[0], spanned(meta))

    def range_window(self, meta: Meta, children: list[Any]) -> RangeWindow:
        past, until, slide, unit = children
        return RangeWindow(past, until, whole_number(slide), _unit(unit), spanned(meta), span_of(slide))

    def scan_window(self, meta: Meta, children: list[Any]) -> ScanWindow:
        every, unit = children
        return ScanWindow(whole_number(every), _unit(unit), spanned(meta), span_of(every))

    def now(self, meta: Meta, children: list[Token]) -> int:
        return whole_number(children[1]) if children else 0


def _unit(token: Token) -> Unit:
    return Unit.ROWS if token.upper() == "ROW" else Unit(token.upper())
