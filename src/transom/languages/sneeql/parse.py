"""Parses SNEEql texts to syntax trees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from transom.errors import ParseError, Span
from transom.languages.sneeql.syntax import (
    CalendarWindow,
    Convert,
    Converter,
    FromToWindow,
    OffsetUnit,
    Query,
    ScanWindow,
    Select,
    Source,
)
from transom.languages.sql.parse import Clause, ClauseBuilder, parse_language, span_of, span_of_meta, whole_number
from transom.languages.sql.syntax import TimeZone

if TYPE_CHECKING:
    from transom.languages.sql.parse_errors import DistinctAggregate, Failure

TOKEN_NAMES = {
    "UNIT": "a unit: SEC, MIN, HOUR or ROWS",
    "PERIOD": "DAY, WEEK, MONTH or YEAR with a time zone",
    "CONVERTER": "RSTREAM, ISTREAM, DSTREAM",
}

JOIN = "list the sources with commas, and join them in WHERE"
OUTER_JOIN = f"there are no outer joins; for an inner join, {JOIN}"
FOREIGN_KEYWORDS = {
    "JOIN": JOIN,
    "ON": "put conditions into WHERE",
    **dict.fromkeys(
        ("LIMIT", "OFFSET", "FETCH"),
        "a row window such as [FROM NOW-9 TO NOW SLIDE 1 ROWS] holds the last ten rows",
    ),
    **dict.fromkeys(("UNION", "EXCEPT", "INTERSECT"), "write two queries; CQL has UNION, EXCEPT and INTERSECT"),
    "GROUPBY": "write GROUP BY",
    **dict.fromkeys(
        ("ORDER", "ORDERBY"), "ORDER BY is not supported: the rows of an answer have no order; leave it out"
    ),
    "OVER": "write windows in brackets after a source, such as road [FROM NOW-5 TO NOW SLIDE 1 MIN]",
}
"""Keywords of other dialects, and hints on what to write instead."""
_FRACTION = re.compile(r"\d+\.\d*")
_TIME_SLIDE = re.compile(r"\bSLIDE\s+(\d+\s+(?:SEC|MIN|HOUR))\s*\]", re.IGNORECASE)


def parse(text: str) -> Query:
    """Parse the text of a SNEEql query to its syntax tree; raises ParseError, with the position, if it is malformed."""
    query: Query = parse_language("sneeql", _SneeqlBuilder(), text, TOKEN_NAMES, _advice)
    return query


def _advice(failure: Failure) -> str | None:
    """Return SNEEql's own hint for an unexpected word, or None if it has none."""
    from transom.languages.sql.parse_errors import distinct_aggregate

    aggregate = distinct_aggregate(failure)
    if aggregate is not None:
        return _distinct_hint(aggregate)
    word, expected = failure.word.upper(), failure.expected
    if "TO" in expected or "SLIDE" in expected:
        if word == "+":
            return "a window reaches back from NOW: write NOW or NOW-n"
        if word in ("SEC", "MIN", "HOUR", "ROW", "ROWS"):
            return "a window has one unit, written after SLIDE"
        if word == "]" and "SLIDE" in expected:
            return "a window needs a slide, for example SLIDE 1 MIN"
    if expected == {"FROM", "SCAN"} and word in ("RANGE", "ROWS", "ROW", "NOW", "UNBOUNDED", "PARTITION"):
        from transom.languages.sneeql.window_texts import counterpart_of_cql

        window = counterpart_of_cql(failure.text[failure.span.start :])
        written = "for example [FROM NOW-5 TO NOW SLIDE 1 MIN]" if window is None else window
        return f"this window is CQL: name the file .cql, or write {written}"
    if re.fullmatch("(DAY|WEEK|MONTH|YEAR)S?", word) and TOKEN_NAMES["UNIT"] in expected:
        return "write SEC, MIN, HOUR or ROWS; a day is 24 HOUR"
    if expected == {"AT"}:
        return (
            f"{failure.before.split()[-1].upper()} needs a time zone, such as AT 'Europe/Berlin'; for fixed lengths, "
            "write the whole window in HOUR"
        )
    if word == "AT" and expected == {"']'"}:
        return "AT is for slides by DAY, WEEK, MONTH or YEAR"
    if expected == {"a whole number"} or (_FRACTION.fullmatch(word) and TOKEN_NAMES["UNIT"] in expected):
        return _whole_number_hint(failure)
    if word == "SELECT" and "a string" in expected:
        return "subqueries are allowed only in FROM, in parentheses"
    if "WHERE" in expected and word in ("LEFT", "RIGHT", "FULL", "OUTER"):
        return OUTER_JOIN
    if "WHERE" in expected and word in ("INNER", "CROSS", "NATURAL"):
        return JOIN
    return FOREIGN_KEYWORDS.get(word)


def _distinct_hint(aggregate: DistinctAggregate) -> str:
    """Return a hint with the query that aggregates distinct values: a subquery groups each window by the column."""
    slide = _TIME_SLIDE.search(aggregate.window or "SLIDE 1 MIN]")
    if slide is None:
        return "an aggregate of distinct values needs a window of time; GROUP BY gives each value once"
    column = aggregate.column
    subquery = f"(RSTREAM(SELECT {column} FROM {aggregate.source or 'SOURCE'} [..] GROUP BY {column}))"  # noqa: S608
    return f"write SELECT {aggregate.function}({column}) FROM {subquery} [FROM NOW TO NOW SLIDE {slide[1]}]"  # noqa: S608


def _whole_number_hint(failure: Failure) -> str:
    """Return the hint that a whole number is expected in a window, and from which minimum."""
    least = " of at least 1" if failure.before.upper().endswith(("SLIDE", "SCAN")) else ""
    if "." in failure.word:
        return f"expected a whole number{least}; use a smaller unit for the whole window, such as SEC"
    return f"expected a whole number{least}"


class _Alias(NamedTuple):
    """An alias and its span."""

    name: str
    span: Span


@v_args(meta=True)
class _SneeqlBuilder(ClauseBuilder):
    """Builds the syntax tree of a SNEEql query from its parse tree."""

    def start(self, meta: Meta, children: list[Any]) -> Query:
        """Return the syntax tree of the entire query, which is the only child of the parse tree's root."""
        query: Query = children[0]
        return query

    def convert(self, meta: Meta, children: list[Any]) -> Query:
        """Build the syntax node of `RSTREAM(query)`, `ISTREAM(query)` or `DSTREAM(query)`."""
        return Convert(Converter(children[0].upper()), children[1], span_of_meta(meta))

    def select(self, meta: Meta, children: list[Clause]) -> Query:
        """Build the node of a SELECT; each clause in `children` is a pair (dict of node fields, text offset)."""
        clauses: dict[str, Any] = {name: content for fields, _ in children for name, content in fields.items()}
        starts = tuple(start for _, start in children)
        return Select(span=span_of_meta(meta), starts=starts, **clauses)

    def select_clause(self, meta: Meta, children: list[Any]) -> Clause:
        """Return a dict of SELECT node fields (the items, or the span of `*`), and the text offset of the select list.

        `*` is an empty list.
        """
        if isinstance(children[0], Span):
            return {"items": (), "star_span": children[0]}, meta.start_pos
        return {"items": tuple(children)}, meta.start_pos

    def from_clause(self, meta: Meta, children: list[Source]) -> Clause:
        """Return the FROM clause as a field of the SELECT node, with its offset in the query text."""
        return {"sources": tuple(children)}, meta.start_pos

    def source(self, meta: Meta, children: list[Any]) -> Source:
        """Build the syntax node of a source of FROM; raises ParseError if it has two aliases."""
        aliases = [c for c in children if isinstance(c, _Alias)]
        if len(aliases) > 1:
            raise ParseError("two aliases for one source", span=aliases[1].span, hint="keep one AS")
        windows = [c for c in children if isinstance(c, FromToWindow | CalendarWindow | ScanWindow)]
        return Source(
            children[0][0],
            aliases[0].name if aliases else None,
            windows[0] if windows else None,
            span_of_meta(meta),
            children[0][1],
        )

    def subquery(self, meta: Meta, children: list[Any]) -> tuple[Query, Any]:
        """Return a subquery in FROM as the pair (syntax tree, span in the text)."""
        return (children[0], span_of_meta(meta))

    def extent(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        """Return the name of an extent (source or table) in FROM, with its span in the text."""
        return (children[0], span_of_meta(meta))

    def alias(self, meta: Meta, children: list[Any]) -> _Alias:
        """Return the alias in `AS alias`, with its span in the text."""
        return _Alias(children[0], span_of_meta(meta))

    def range_window(self, meta: Meta, children: list[Any]) -> FromToWindow:
        """Build the syntax node of `[FROM NOW-n TO NOW-m SLIDE s unit]`."""
        past, until, slide, unit = children
        return FromToWindow(
            past[0],
            until[0],
            whole_number(slide),
            _unit(unit),
            span_of_meta(meta),
            span_of(slide),
            past[1],
            until[1],
        )

    def calendar_window(self, meta: Meta, children: list[Any]) -> CalendarWindow:
        """Build the syntax node of `[FROM NOW-n TO NOW-m SLIDE s unit AT zone]`, with a calendar unit."""
        past, until, slide, unit, zone = children
        return CalendarWindow(
            past[0],
            until[0],
            whole_number(slide),
            unit.upper().removesuffix("S"),
            zone,
            span_of_meta(meta),
            span_of(slide),
            past[1],
            until[1],
        )

    def zone(self, meta: Meta, children: list[Token]) -> TimeZone:
        """Build the syntax node of `AT 'Europe/Berlin'`."""
        return TimeZone(children[0][1:-1], span_of(children[0]))

    def scan_window(self, meta: Meta, children: list[Any]) -> ScanWindow:
        """Build the syntax node of `[SCAN n unit]`."""
        every, unit = children
        return ScanWindow(whole_number(every), _unit(unit), span_of_meta(meta), span_of(every))

    def now(self, meta: Meta, children: list[Token]) -> tuple[int, Span]:
        """Return the offset n of `NOW-n` (0 for `NOW`), with its span in the text."""
        return (whole_number(children[1]) if children else 0), span_of_meta(meta)


def _unit(token: Token) -> OffsetUnit:
    """Return the unit that a token of a window names: a time unit or ROWS, also spelled ROW."""
    return OffsetUnit.ROWS if token.upper() == "ROW" else OffsetUnit(token.upper())
