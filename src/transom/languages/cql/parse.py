"""Parses CQL texts to syntax trees, in all the spellings of the document (C19)."""

from __future__ import annotations

import difflib
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from transom.errors import NameProblem, ParseError, Span
from transom.languages.cql.lengths import metres_of
from transom.languages.cql.syntax import (
    Convert,
    Converter,
    Domain,
    FirstClause,
    Join,
    Quantity,
    Query,
    RangeClause,
    RegionName,
    RowQuantity,
    Select,
    SetOperation,
    SetOperator,
    SlideClause,
    Source,
    WindowClause,
)
from transom.languages.sql.parse import Clause, ClauseBuilder, parse_language, span_of, span_of_meta, whole_number
from transom.languages.sql.syntax import Exists, InSubquery, Name, Node, TimeZone
from transom.languages.sql.type_messages import shorten
from transom.model.geometry.space import MICROMETRES
from transom.model.time import UNITS

if TYPE_CHECKING:
    from transom.languages.sql.parse_errors import Failure

TOKEN_NAMES = {
    "CONVERTER": "RSTREAM, ISTREAM, DSTREAM",
    "CURLY": "a string",
    "DOMAIN": "SPACE, TIME",
    "_ROWS": "ROWS",
}

FOREIGN_KEYWORDS = {
    "RIGHT": "there is no RIGHT JOIN; swap the sources and write LEFT JOIN",
    "FULL": "there is no FULL JOIN; there are JOIN and LEFT JOIN",
    **dict.fromkeys(("CROSS", "NATURAL"), "list the sources with commas, and join them in WHERE"),
    "USING": "write ON and a condition",
    **dict.fromkeys(
        ("ORDER", "ORDERBY"), "ORDER BY is not supported: the rows of a relation have no order; leave it out"
    ),
    **dict.fromkeys(("OFFSET", "FETCH"), "there is no {word}; [ROWS 10] holds the last 10 rows of a stream"),
    "GROUPBY": "write GROUP BY",
    "OVER": "write windows in brackets after a source, such as cars [RANGE '5 minutes']",
    "MINUS": "write EXCEPT",
}
"""Keywords of other dialects, and hints on what to write instead."""

LENGTH = "write a number and a unit, such as '60 minutes' or '50 km'"
MAX_DIGITS = 18
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[^\W\d]\w*)\s*")
_NUMBER = re.compile(r"\b\d+(?:\.\d*)?\Z")
_CONVERTED = re.compile(r"([RID]STREAM)\s*\(([^()]*)\)\Z", re.IGNORECASE)
_COMPARED_LENGTH = re.compile(
    r"(?:\b(?P<measured>DISTANCE|PATHLENGTH)\s*\((?P<points>[^()]*)\)\s*)?(?P<comparison>[<>]=?|<>|!=|=)\s*"
    r"(?P<amount>\d{1,12}(?:\.\d{1,9})?)\Z",
    re.IGNORECASE,
)
_ITEMS = re.compile(r"([^()]{1,40}?)\s+FROM\b", re.IGNORECASE)
_QUANTITY = re.compile(
    r"\s*(?P<amount>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[A-Za-z_][A-Za-z0-9_]*)\s*(?:(?P<word>[rs]attr)\s+(?P<domain>space|time)\s*)?",
    re.IGNORECASE | re.ASCII,
)


def parse(text: str) -> Query:
    """Parse the text of a CQL query to its syntax tree; raises ParseError, with the position, if it is malformed."""
    query: Query = parse_language("cql", _CqlBuilder(), text, TOKEN_NAMES, _advice)
    return query


def _advice(failure: Failure) -> str | ParseError | None:
    """Return CQL's hint for an unexpected word, a ParseError to raise for a number without a unit, or else None."""
    from transom.languages.sql.parse_errors import distinct_aggregate

    word, expected = failure.word, failure.expected
    upper = word.upper()
    if (distinct := distinct_aggregate(failure)) is not None:
        column, source = distinct.column, f"{distinct.source or 'SOURCE'} {distinct.window or '[..]'}"
        return f"write SELECT {distinct.function}({column}) FROM (SELECT DISTINCT {column} FROM {source})"  # noqa: S608
    in_window = bool(expected & {"RANGE", "SLIDE", "RATTR", "SATTR"})
    if upper == "SELECT" and "a string" in expected:
        return "subqueries are allowed only in FROM, after IN and after EXISTS"
    if in_window and upper == "FROM":
        return "in CQL, windows are written [RANGE '5 minutes', SLIDE '1 minute']"
    if in_window and upper == "SCAN":
        return "leave the window of a table out; a stream takes [RANGE ..], [ROWS ..], [NOW] or [UNBOUNDED]"
    if word.lower() in MICROMETRES and "OR" in expected and (compared := _COMPARED_LENGTH.search(failure.before)):
        return _length_hint(word, compared)
    number = _NUMBER.search(failure.before)
    if word in "],[" and expected == {"a name"} and number is not None:
        return ParseError(f"{number[0]} has no unit", span=Span(*number.span()), text=failure.text, hint=LENGTH)
    if word == "," and expected == {"FROM"}:
        return _converter_hint(failure)
    if upper == "LIMIT":
        count = re.match(r"\s*([1-9]\d{0,8})\b", failure.after)
        rows = count[1] if count else "10"
        return f"there is no LIMIT; [ROWS {rows}] holds the last {rows} rows of a stream"
    foreign = FOREIGN_KEYWORDS.get(upper)
    return foreign.format(word=upper) if foreign else None


def _length_hint(unit: str, compared: re.Match[str]) -> str:
    """Return a hint to write a number without `unit` in the comparison matched as `compared`; metres for a distance."""
    metres = metres_of(f"{compared['amount']} {unit}")
    if compared["measured"] is None or metres is None:
        return f"a number in a condition has no unit: leave {shorten(unit)} out"
    hint = f"{compared['measured'].upper()} gives a number of metres: write {metres}"
    if compared["measured"].upper() != "DISTANCE" or not compared["comparison"].startswith("<"):
        return hint
    points = compared["points"] if len(compared["points"]) <= 30 else "A.g, B.g"
    return f"{hint}, or WITHIN({points}, '{compared['amount']} {unit}')"


def _converter_hint(failure: Failure) -> str:
    """Return the hint to put a converter such as RSTREAM around the whole select list, for `RSTREAM(a), b`."""
    first, others = _CONVERTED.search(failure.before), _ITEMS.match(failure.after)
    example = f": {first[1]}({first[2]}, {others[1].strip()})" if first and others else ""
    return f"put the converter around the whole list{example}"


class _Alias(NamedTuple):
    """An alias and its span."""

    name: str
    span: Span


class _QuantityWithDomain(NamedTuple):
    """A quantity, and its domain if that is written inside the quotes."""

    quantity: Quantity
    domain: tuple[str, Domain] | None = None


@v_args(meta=True)
class _CqlBuilder(ClauseBuilder):
    """Builds the syntax tree of a CQL query from its parse tree."""

    def start(self, meta: Meta, children: list[Any]) -> Query:
        """Return the syntax tree of the entire query, which is the only child of the parse tree's root."""
        query: Query = children[0]
        return query

    def combine(self, meta: Meta, children: list[Any]) -> Query:
        """Build the syntax node of `left UNION [ALL] right`, EXCEPT or INTERSECT."""
        left, operator, *all_keyword, right = children
        return SetOperation(
            SetOperator(operator.upper()), bool(all_keyword), left, right, span_of_meta(meta), span_of(operator)
        )

    def convert(self, meta: Meta, children: list[Any]) -> Query:
        """Build the syntax node of `RStream(query)`, `IStream(query)` or `DStream(query)`."""
        return Convert(converter_of(children[0]), children[1], span_of_meta(meta))

    def select(self, meta: Meta, children: list[Clause]) -> Query:
        """Build the syntax node of a SELECT; a clause is a pair (fields of the node, offset in the text)."""
        clauses: dict[str, Any] = {name: content for fields, _ in children for name, content in fields.items()}
        return Select(span=span_of_meta(meta), starts=tuple(start for _, start in children), **clauses)

    def select_clause(self, meta: Meta, children: list[Any]) -> Clause:
        """Return a dict of SELECT node fields (items, DISTINCT, converter), and the text offset of the select list."""
        *keywords, items = children
        fields: dict[str, Any] = {"items": (), "star_span": items} if isinstance(items, Span) else {"items": items}
        for keyword in keywords:
            if keyword.type == "CONVERTER":
                fields |= {"converter": converter_of(keyword), "head_span": span_of(keyword)}
            elif fields.get("distinct"):
                raise ParseError("DISTINCT is written twice", span=span_of(keyword), hint="keep one of them")
            else:
                fields["distinct"] = True
        return fields, meta.start_pos

    def item_list(self, meta: Meta, children: list[Any]) -> tuple[Any, ...]:
        """Return the syntax nodes of the items of a select list as a tuple."""
        return tuple(children)

    def from_clause(self, meta: Meta, children: list[Any]) -> Clause:
        """Return the FROM clause as the field `tables` of the SELECT node, with its offset in the query text."""
        return {"tables": tuple(children)}, meta.start_pos

    def first_clause(self, meta: Meta, children: list[Any]) -> Clause:
        """Return `FIRST n [PER a, ...] BY b` as a field of the SELECT node, with its offset in the query text."""
        count, *per, by = children
        return {"first": FirstClause(whole_number(count), by, tuple(per), span_of_meta(meta))}, meta.start_pos

    def join(self, meta: Meta, children: list[Any]) -> Join:
        """Build the syntax node of `left [LEFT] JOIN right ON condition`."""
        left, *keywords, right, on = children
        return Join(left, right, on, any(keyword.type == "LEFT" for keyword in keywords), span_of_meta(meta))

    def source(self, meta: Meta, children: list[Any]) -> Source:
        """Build the syntax node of a FROM source with its alias and window; raises ParseError for two aliases.

        An alias is written `source AS r` or `r = source`.
        """
        aliases = [c for c in children if isinstance(c, _Alias)]
        if isinstance(children[0], str):
            if children[1] != "=":
                input = children[2][0] if isinstance(children[2][0], str) else "(SELECT ..)"
                raise ParseError(
                    f"'{children[1]}' is not expected here",
                    span=span_of(children[1]),
                    hint=f"write {shorten(children[0])}={shorten(input)}: an alias, =, and the source",
                )
            aliases.insert(0, _Alias(children[0], span_of_meta(meta)))
            children = children[2:]
        if len(aliases) > 1:
            raise ParseError("two aliases for one source", span=aliases[1].span, hint="keep one of them")
        window = next((c for c in children if isinstance(c, WindowClause)), None)
        input, span = children[0]
        return Source(input, aliases[0].name if aliases else None, window, span_of_meta(meta), span)

    def subquery(self, meta: Meta, children: list[Any]) -> tuple[Query, Span]:
        """Return a subquery in FROM as the pair (syntax tree, span in the text)."""
        return (children[0], span_of_meta(meta))

    def extent(self, meta: Meta, children: list[Any]) -> tuple[str, Span]:
        """Return the name of an extent (source or table) in FROM, with its span in the text."""
        return (children[0], span_of_meta(meta))

    def alias(self, meta: Meta, children: list[Any]) -> _Alias:
        """Return the alias in `AS alias`, with its span in the text."""
        return _Alias(children[0], span_of_meta(meta))

    def window(self, meta: Meta, children: list[Any]) -> WindowClause:
        """Build the syntax node of a window `[PARTITION BY keys range, slide]`; raises ParseError for two slides."""
        [(keys, parts)] = children if isinstance(children[0], tuple) else [((), children[0])]
        now = any(isinstance(clause, Token) and clause.type == "NOW" for clause in parts)
        ranges = tuple(clause for clause in parts if isinstance(clause, RangeClause))
        slides = [clause for clause in parts if isinstance(clause, SlideClause)]
        if len(slides) > 1:
            raise ParseError("two slides in one window", span=slides[1].span, hint="keep one SLIDE")
        zone = next((clause for clause in parts if isinstance(clause, TimeZone)), None)
        return WindowClause(keys, ranges, slides[0] if slides else None, now, span_of_meta(meta), zone)

    def keyed(self, meta: Meta, children: list[Any]) -> tuple[tuple[Name, ...], list[Any]]:
        """Return the pair of a window's PARTITION BY names, and the list of syntax nodes of its ranges and slides."""
        name, rest = children
        return ((name, *rest[0]), rest[1]) if isinstance(rest, tuple) else ((name,), rest)

    def frame(self, meta: Meta, children: list[Any]) -> list[Any]:
        """Return the ranges, slides and keywords between the brackets of a window as a single list."""
        return children[0] if isinstance(children[0], list) else children

    def calendar_frame(self, meta: Meta, children: list[Any]) -> list[Any]:
        """Return a list of the syntax nodes in a window's brackets: ranges and slides, then the time zone."""
        return [*children[0], children[1]]

    def zone(self, meta: Meta, children: list[Token]) -> TimeZone:
        """Build the syntax node of `AT 'Europe/Berlin'`."""
        return TimeZone(children[0][1:-1], span_of(children[0]))

    def parts(self, meta: Meta, children: list[Any]) -> list[Any]:
        """Return a window's ranges and slides; raises ParseError if it has no range, or UNBOUNDED and another range."""
        unbounded = next((clause for clause in children if isinstance(clause, Token)), None)
        if unbounded is not None and any(isinstance(clause, RangeClause) for clause in children):
            raise ParseError(
                "UNBOUNDED cannot be combined with another range", span=span_of(unbounded), hint="keep one of them"
            )
        if not any(isinstance(clause, RangeClause | Token) for clause in children):
            raise ParseError(
                "a slide without a range",
                span=span_of_meta(meta),
                hint="write [RANGE .., SLIDE ..] or [UNBOUNDED, SLIDE ..]",
            )
        return children

    def unbounded_range(self, meta: Meta, children: list[Any]) -> Token:
        """Return the token UNBOUNDED, which stands for RANGE UNBOUNDED or ROWS UNBOUNDED in a window."""
        token: Token = children[0]
        return token

    def range_clause(self, meta: Meta, children: list[Any]) -> RangeClause:
        """Build the syntax node of `RANGE '5 minutes'` or `RANGE BY '5 km' RATTR SPACE`."""
        quantity, domain = quantity_with_domain(children, "RATTR")
        return RangeClause(quantity, domain, span_of_meta(meta))

    def region(self, meta: Meta, children: list[Any]) -> RangeClause:
        """Build the syntax node of `RANGE BY region [RATTR SPACE]`."""
        region_name = next(c for c in children if isinstance(c, RegionName))
        last = children[-1]
        domain = Domain(last.upper()) if isinstance(last, Token) and last.type == "DOMAIN" else None
        return RangeClause(region_name, domain, span_of_meta(meta))

    def region_name(self, meta: Meta, children: list[str]) -> RegionName:
        """Build the syntax node of a region's name in a range."""
        return RegionName(children[0], span_of_meta(meta))

    def rows_range(self, meta: Meta, children: list[Any]) -> RangeClause:
        """Build the syntax node of `ROWS n`, the range of a window of the last n rows."""
        return RangeClause(RowQuantity(whole_number(children[0]), span_of(children[0])), None, span_of_meta(meta))

    def slide(self, meta: Meta, children: list[Any]) -> SlideClause:
        """Build the syntax node of `SLIDE '5 minutes'` or `SLIDE BY '5 km' SATTR SPACE`."""
        quantity, domain = quantity_with_domain(children, "SATTR")
        return SlideClause(quantity, domain, span_of_meta(meta))

    def rows_slide(self, meta: Meta, children: list[Any]) -> SlideClause:
        """Build the syntax node of `SLIDE n ROWS`."""
        return SlideClause(RowQuantity(whole_number(children[-1]), span_of(children[-1])), None, span_of_meta(meta))

    def quantity(self, meta: Meta, children: list[Token]) -> _QuantityWithDomain:
        """Parse a length with its unit, such as `5 km` or `'5 km'`; in quotes, RATTR SPACE and the like may follow."""
        if len(children) == 2:
            amount = exact_decimal(str(children[0]), span_of(children[0]))
            return _QuantityWithDomain(Quantity(amount, children[1].lower(), span_of_meta(meta), span_of(children[1])))
        match = _QUANTITY.fullmatch(children[0], 1, len(children[0]) - 1)
        begin = meta.start_pos
        if match is None:
            loose = _AMOUNT.fullmatch(children[0], 1, len(children[0]) - 1)
            if loose is not None and not loose["unit"].isascii():
                raise unknown_unit(loose["unit"], Span(begin + loose.start("unit"), begin + loose.end("unit")))
            raise ParseError("this is neither a length of time nor a distance", span=span_of_meta(meta), hint=LENGTH)
        domain = (match["word"].upper(), Domain(match["domain"].upper())) if match["word"] else None
        quantity = Quantity(
            exact_decimal(match["amount"], span_of_meta(meta)),
            match["unit"].lower(),
            span_of_meta(meta),
            Span(begin + match.start("unit"), begin + match.end("unit")),
        )
        return _QuantityWithDomain(quantity, domain)

    def in_query(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `a IN (SELECT ...)`."""
        return InSubquery(children[0], children[1], False, span_of_meta(meta))

    def not_in_query(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `a NOT IN (SELECT ...)`."""
        return InSubquery(children[0], children[1], True, span_of_meta(meta))

    def exists(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `EXISTS (SELECT ...)`."""
        return Exists(children[0], span_of_meta(meta))


def unknown_unit(unit: str, span: Span) -> NameProblem:
    """Return the NameProblem for an unknown unit; its hint names the most similar unit, or some units."""
    matches = difflib.get_close_matches(unit.lower(), [*UNITS, *MICROMETRES], 1, 0.6)
    if re.fullmatch("(week|month|year)s?", unit):
        hint = f"in a calendar window, write a time zone at its end, such as SLIDE '1 {unit}' AT 'Europe/Berlin'"
        return NameProblem(f"no unit is called {unit}", span=span, hint=hint)
    hint = f"did you mean {matches[0]}?" if matches else "units are seconds, minutes, hours, days, m, km and others"
    strange = next((character for character in unit if not character.isascii()), None)
    if matches and strange:
        hint += f" {strange} is not a letter from a to z"
    return NameProblem(f"no unit is called {shorten(unit)}", span=span, hint=hint)


def converter_of(token: Token) -> Converter:
    """Return the converter (RStream, IStream or DStream) that a token names."""
    return Converter[token.upper()]


def quantity_with_domain(children: list[Any], keyword: str) -> tuple[Quantity, Domain | None]:
    """Return the length of a range (`keyword` RATTR) or slide (SATTR), with its domain SPACE or TIME if it is written.

    The domain follows `keyword`, which is RATTR for a range and SATTR for a slide. Raises ParseError if the quotes
    contain the other keyword, or a second domain follows them.
    """
    quoted: _QuantityWithDomain = next(c for c in children if isinstance(c, _QuantityWithDomain))
    domain_token = next((c for c in children if isinstance(c, Token) and c.type == "DOMAIN"), None)
    if quoted.domain is None:
        return quoted.quantity, None if domain_token is None else Domain(domain_token.upper())
    if domain_token is not None or quoted.domain[0] != keyword:
        quantity, domain = quoted.quantity, domain_token or quoted.domain[1].value
        raise ParseError(
            f"{quoted.domain[0]} {quoted.domain[1].value} is inside the quotes",
            span=quantity.span,
            hint=f"write '{quantity.amount:f} {shorten(quantity.unit)}' {keyword} {domain.upper()}",
        )
    return quoted.quantity, quoted.domain[1]


def exact_decimal(text: str, span: Span) -> Decimal:
    """Parse a decimal number exactly; raises ParseError at `span` if it has too many digits."""
    number = Decimal(text)
    if number.adjusted() > MAX_DIGITS or number.as_tuple().exponent < -MAX_DIGITS:  # type: ignore[operator]
        raise ParseError(f"a length has at most {MAX_DIGITS} digits on each side of the point", span=span, hint=LENGTH)
    return number
