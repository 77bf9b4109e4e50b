"""What each construct of the language is parsed to, and that every node knows its place in the text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from transom.errors import ParseError, Span
from transom.languages.sneeql.parse import parse
from transom.languages.sneeql.syntax import (
    Convert,
    Converter,
    FromToWindow,
    OffsetUnit,
    Query,
    ScanWindow,
    Select,
    Source,
)
from transom.languages.sql.parse import MAX_DEPTH, MAX_TEXT_LENGTH
from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    FunctionCall,
    InList,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    SelectItem,
    SqlLiteral,
    TypedLiteral,
    Unary,
)

A, B, C, D = (Name(None, letter) for letter in "abcd")
ONE, TWO, THREE = (SqlLiteral(number) for number in (1, 2, 3))
ROAD = Source("road")


def expression(text: str) -> Node:
    """The expression that a select list holds."""
    query = parse(f"SELECT {text} FROM road")
    assert isinstance(query, Select)
    (item,) = query.items
    assert item.alias is None
    return item.expression


def source(text: str) -> Source:
    """The one source of a FROM clause."""
    query = parse(f"SELECT x FROM {text}")
    assert isinstance(query, Select)
    (found,) = query.sources
    return found


def binary(operator: str, left: Node = A, right: Node = B) -> Binary:
    return Binary(operator, left, right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", SqlLiteral(1)),
        ("007", SqlLiteral(7)),
        ("9223372036854775807", SqlLiteral(2**63 - 1)),
        ("00000000000000000000000001", SqlLiteral(1)),
        ("1.5", SqlLiteral(1.5)),
        (".5", SqlLiteral(0.5)),
        ("2.", SqlLiteral(2.0)),
        ("1e3", SqlLiteral(1000.0)),
        ("1E-07", SqlLiteral(1e-07)),
        ("1.5e+2", SqlLiteral(150.0)),
        ("1e-400", SqlLiteral(0.0)),
        ("'a'", SqlLiteral("a")),
        ("''", SqlLiteral("")),
        ("'it''s'", SqlLiteral("it's")),
        ("''''", SqlLiteral("'")),
        ("'-- no comment'", SqlLiteral("-- no comment")),
        ("'two\nlines'", SqlLiteral("two\nlines")),
        ("TRUE", SqlLiteral(True)),
        ("false", SqlLiteral(False)),
        ("Null", SqlLiteral(None)),
        ("time '2009-03-01'", TypedLiteral("TIME", "2009-03-01")),
        ("Timestamp'it''s'", TypedLiteral("TIMESTAMP", "it's")),
    ],
)
def test_constants(text: str, expected: Node) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("temp", Name(None, "temp")),
        ("Temp", Name(None, "Temp")),
        ("road.temp", Name("road", "temp")),
        ("road . temp", Name("road", "temp")),
        ('"temp"', Name(None, "temp")),
        ('"road"."temp"', Name("road", "temp")),
        ('"a b"', Name(None, "a b")),
        ('"select"', Name(None, "select")),
        ('"say ""hi"""', Name(None, 'say "hi"')),
        ('""""', Name(None, '"')),
        ('"it\'s -- here"', Name(None, "it's -- here")),
        ("now", Name(None, "now")),
        ("slide.rows", Name("slide", "rows")),
        ("min", Name(None, "min")),
        ("tick", Name(None, "tick")),
        ("selected", Name(None, "selected")),
        ("_1", Name(None, "_1")),
    ],
)
def test_names(text: str, expected: Node) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", binary("+", A, binary("*", B, C))),
        ("(a + b) * c", binary("*", binary("+"), C)),
        ("a - b - c", binary("-", binary("-"), C)),
        ("a - (b - c)", binary("-", A, binary("-", B, C))),
        ("a / b % c", binary("%", binary("/"), C)),
        ("a || b || c", binary("||", binary("||"), C)),
        ("a || b + c", binary("+", binary("||"), C)),
        ("-a * b", binary("*", Unary("-", A), B)),
        ("- -1", Unary("-", Unary("-", ONE))),
        ("+-a", Unary("+", Unary("-", A))),
        ("-1", Unary("-", ONE)),
        ("a-1", binary("-", A, ONE)),
        ("a - -1", binary("-", A, Unary("-", ONE))),
        ("a \u2212 1", binary("-", A, ONE)),
        ("\u22121", Unary("-", ONE)),
        ("a = b", binary("=")),
        ("a <> b", binary("<>")),
        ("a != b", binary("<>")),
        ("a<=b", binary("<=")),
        ("a + 1 < b", binary("<", binary("+", A, ONE), B)),
        ("(a = b) = c", binary("=", binary("="), C)),
        ("(a < b) IS NULL", IsNull(binary("<"), False)),
        ("a AND b AND c", Logic("AND", (A, B, C))),
        ("a OR b OR c", Logic("OR", (A, B, C))),
        ("a OR b AND c", Logic("OR", (A, Logic("AND", (B, C))))),
        ("(a OR b) AND c", Logic("AND", (Logic("OR", (A, B)), C))),
        ("(a AND b) AND c", Logic("AND", (Logic("AND", (A, B)), C))),
        ("NOT a AND b", Logic("AND", (Unary("NOT", A), B))),
        ("NOT (a AND b)", Unary("NOT", Logic("AND", (A, B)))),
        ("NOT a = b", Unary("NOT", binary("="))),
        ("NOT NOT a", Unary("NOT", Unary("NOT", A))),
        ("((a))", A),
    ],
)
def test_precedence(text: str, expected: Node) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a IS NULL", IsNull(A, False)),
        ("a is not null", IsNull(A, True)),
        ("a IN (1)", InList(A, (ONE,), False)),
        ("a NOT IN (1, b + 2, NULL)", InList(A, (ONE, binary("+", B, TWO), SqlLiteral(None)), True)),
        ("a IN (b AND c)", InList(A, (Logic("AND", (B, C)),), False)),
        ("a BETWEEN 1 AND 2", Between(A, ONE, TWO, False)),
        ("a NOT BETWEEN 1 AND 2 + 3", Between(A, ONE, binary("+", TWO, THREE), True)),
        ("a BETWEEN b AND c AND d", Logic("AND", (Between(A, B, C, False), D))),
        ("a AND b BETWEEN 1 AND 2", Logic("AND", (A, Between(B, ONE, TWO, False)))),
        ("NOT a BETWEEN 1 AND 2", Unary("NOT", Between(A, ONE, TWO, False))),
        ("a LIKE 'x%'", Like(A, SqlLiteral("x%"), False)),
        ("a NOT LIKE b || c", Like(A, binary("||", B, C), True)),
        ("now()", FunctionCall("NOW", ())),
        ("abs(a)", FunctionCall("ABS", (A,))),
        ("Coalesce(a, b, 1)", FunctionCall("COALESCE", (A, B, ONE))),
        ("count(*)", FunctionCall("COUNT", (), star=True)),
        ("min(a)", FunctionCall("MIN", (A,))),
        ("F(a AND b)", FunctionCall("F", (Logic("AND", (A, B)),))),
        ("CASE WHEN a THEN 1 END", CaseWhen(None, ((A, ONE),), None)),
        ("case when a then 1 when b then 2 else 3 end", CaseWhen(None, ((A, ONE), (B, TWO)), THREE)),
        ("CASE a WHEN 1 THEN b ELSE NULL END", CaseWhen(A, ((ONE, B),), SqlLiteral(None))),
        ("CASE a = b WHEN TRUE THEN 1 END", CaseWhen(binary("="), ((SqlLiteral(True), ONE),), None)),
        ("CAST(a AS Integer)", CastTo(A, "integer")),
        ("cast(a OR b as no_such_type)", CastTo(Logic("OR", (A, B)), "no_such_type")),
    ],
)
def test_tests_and_functions(text: str, expected: Node) -> None:
    assert expression(text) == expected


PAST_FIVE = FromToWindow(5, 0, 1, OffsetUnit.MIN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("road", ROAD),
        ('"my road"', Source("my road")),
        ("road AS r", Source("road", "r")),
        ("road [FROM NOW-5 TO NOW SLIDE 1 MIN]", Source("road", None, PAST_FIVE)),
        ("road[from now - 5 to now slide 1 min]", Source("road", None, PAST_FIVE)),
        ("road AS r [FROM NOW-5 TO NOW SLIDE 1 MIN]", Source("road", "r", PAST_FIVE)),
        ("road [FROM NOW-5 TO NOW SLIDE 1 MIN] AS r", Source("road", "r", PAST_FIVE)),
        ("road [FROM NOW\u22125 TO NOW SLIDE 1 MIN]", Source("road", None, PAST_FIVE)),
        ("road [FROM NOW-5 TO NOW-0 SLIDE 1 MIN]", Source("road", None, PAST_FIVE)),
        ("road [FROM NOW TO NOW-3 SLIDE 0 SEC]", Source("road", None, FromToWindow(0, 3, 0, OffsetUnit.SEC))),
        ("road [FROM NOW-10 TO NOW SLIDE 2 HOUR]", Source("road", None, FromToWindow(10, 0, 2, OffsetUnit.HOUR))),
        ("road [FROM NOW-10 TO NOW SLIDE 1 ROWS]", Source("road", None, FromToWindow(10, 0, 1, OffsetUnit.ROWS))),
        ("road [FROM NOW-10 TO NOW SLIDE 1 row]", Source("road", None, FromToWindow(10, 0, 1, OffsetUnit.ROWS))),
        ("t [SCAN 10 MIN] AS s", Source("t", "s", ScanWindow(10, OffsetUnit.MIN))),
        ("t [scan 1 rows]", Source("t", None, ScanWindow(1, OffsetUnit.ROWS))),
        ("(SELECT a FROM road)", Source(Select((SelectItem(A),), (ROAD,)))),
        ("(SELECT a FROM road) AS s", Source(Select((SelectItem(A),), (ROAD,)), "s")),
        ("now AS to", Source("now", "to")),
    ],
)
def test_sources(text: str, expected: Source) -> None:
    assert source(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM road", Select((), (ROAD,))),
        ("select a from road;", Select((SelectItem(A),), (ROAD,))),
        ("-- first\nSELECT a -- second\nFROM road -- third", Select((SelectItem(A),), (ROAD,))),
        ("SELECT a AS b, c FROM road", Select((SelectItem(A, "b"), SelectItem(C)), (ROAD,))),
        ('SELECT a AS "from" FROM road', Select((SelectItem(A, "from"),), (ROAD,))),
        ("SELECT a FROM road, t", Select((SelectItem(A),), (ROAD, Source("t")))),
        (
            "SELECT a FROM road WHERE b GROUP BY a, c HAVING d",
            Select((SelectItem(A),), (ROAD,), B, (A, C), D),
        ),
        ("SELECT a FROM road HAVING d", Select((SelectItem(A),), (ROAD,), having=D)),
        ("RSTREAM(SELECT * FROM road)", Convert(Converter.RSTREAM, Select((), (ROAD,)))),
        ("istream ( SELECT * FROM road ) ;", Convert(Converter.ISTREAM, Select((), (ROAD,)))),
        (
            "DSTREAM(RSTREAM(SELECT * FROM road))",
            Convert(Converter.DSTREAM, Convert(Converter.RSTREAM, Select((), (ROAD,)))),
        ),
        (
            "SELECT * FROM (ISTREAM(SELECT * FROM road))",
            Select((), (Source(Convert(Converter.ISTREAM, Select((), (ROAD,)))),)),
        ),
    ],
)
def test_queries(text: str, expected: Query) -> None:
    assert parse(text) == expected


def test_equality_tells_one_from_one_point_nought_and_true() -> None:
    assert len({SqlLiteral(1), SqlLiteral(1.0), SqlLiteral(True), SqlLiteral("1")}) == 4


def nodes(value: Any) -> Iterator[Any]:
    """Every node of a syntax tree that has a span."""
    if isinstance(value, tuple):
        for part in value:
            yield from nodes(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, Span):
        yield value
        for field in dataclasses.fields(value):
            yield from nodes(getattr(value, field.name))


TEXT = """\
-- a remark
ISTREAM( SELECT (a + 1) * 2 AS "two", NOT r.b IS NOT NULL, COUNT( * ), CAST(c AS  float)
FROM road AS r [FROM NOW-5 TO NOW SLIDE 10 MIN], t [SCAN 30 SEC], (SELECT x FROM "my s") AS s
WHERE a IN (1, 'x') AND TIME '0' < d GROUP BY -a
HAVING CASE a WHEN 1 THEN 2 ELSE 3 END BETWEEN 1.5 AND f(a, b) ) ;
"""

SPANS: dict[type[Any], list[str]] = {
    Convert: [TEXT[TEXT.index("ISTREAM") : TEXT.rindex(")") + 1]],
    Select: [TEXT[TEXT.index("SELECT") : TEXT.rindex(" ) ;")], 'SELECT x FROM "my s"'],
    SelectItem: ['(a + 1) * 2 AS "two"', "NOT r.b IS NOT NULL", "COUNT( * )", "CAST(c AS  float)", "x"],
    Source: [
        "road AS r [FROM NOW-5 TO NOW SLIDE 10 MIN]",
        "t [SCAN 30 SEC]",
        '(SELECT x FROM "my s") AS s',
        '"my s"',
    ],
    FromToWindow: ["[FROM NOW-5 TO NOW SLIDE 10 MIN]"],
    ScanWindow: ["[SCAN 30 SEC]"],
    Binary: ["(a + 1) * 2", "a + 1", "TIME '0' < d"],
    Unary: ["NOT r.b IS NOT NULL", "-a"],
    IsNull: ["r.b IS NOT NULL"],
    FunctionCall: ["COUNT( * )", "f(a, b)"],
    CastTo: ["CAST(c AS  float)"],
    Logic: ["a IN (1, 'x') AND TIME '0' < d"],
    InList: ["a IN (1, 'x')"],
    TypedLiteral: ["TIME '0'"],
    Between: ["CASE a WHEN 1 THEN 2 ELSE 3 END BETWEEN 1.5 AND f(a, b)"],
    CaseWhen: ["CASE a WHEN 1 THEN 2 ELSE 3 END"],
    Name: ["a", "r.b", "c", "x", "a", "d", "a", "a", "a", "b"],
    SqlLiteral: ["1", "2", "1", "'x'", "1", "2", "3", "1.5"],
}


@pytest.mark.parametrize("kind", SPANS, ids=lambda kind: kind.__name__)
def test_spans(kind: type[Any]) -> None:
    """The span of each node cuts its own words out of the text."""
    found = [TEXT[n.span.start : n.span.end] for n in nodes(parse(TEXT)) if type(n) is kind]
    assert sorted(found) == sorted(SPANS[kind])


def test_spans_of_parts() -> None:
    query = parse(TEXT)
    assert {type(node) for node in nodes(query)} == set(SPANS)
    words = {
        getattr(node, place): TEXT[getattr(node, place).start : getattr(node, place).end]
        for node in nodes(query)
        for place in ("slide_span", "every_span", "input_span", "kind_span")
        if hasattr(node, place)
    }
    inputs = ["road", "t", '(SELECT x FROM "my s")', '"my s"']
    assert sorted(words.values()) == sorted(["10", "30", "float", *inputs])
    star = parse("SELECT  *  FROM road")
    assert isinstance(star, Select)
    assert star.star_span == Span(8, 9)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT temp\n\nFROM road WHRE x", (3, 11)),
        ("SELECT 'two\nlines', FROM road", (2, 9)),
        ("SELECT temp FROM road [FROM NOW", (1, 31)),
        ("SELECT temp FROM road WHERE \x0b", (1, 29)),
    ],
)
def test_places_of_errors(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.position == place


@pytest.mark.parametrize("letter", ["\u0130", "\u0131"])
def test_letters_are_ascii(letter: str) -> None:
    """A letter that is an i only when case is ignored makes no keyword."""
    with pytest.raises(ParseError, match="is not expected here"):
        parse(f"SELECT x FROM road [FROM NOW TO NOW SLIDE 1 M{letter}N]")


def test_limits() -> None:
    assert parse(f"SELECT {'x' * (MAX_TEXT_LENGTH - 17)} FROM road")
    with pytest.raises(ParseError, match="at most 20,000 characters"):
        parse(f"SELECT {'x' * MAX_TEXT_LENGTH} FROM road")
    assert parse(f"SELECT {'- ' * (MAX_DEPTH - 10)} x FROM road")
    with pytest.raises(ParseError, match="levels deep"):
        parse(f"SELECT {'- ' * MAX_DEPTH} x FROM road")
