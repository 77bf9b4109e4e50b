"""CQL text to syntax: every window, every spelling of the document, and the clauses around them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.cases import golden_cases
from transom.errors import ParseError
from transom.languages.cql.parse import parse
from transom.languages.cql.syntax import (
    Convert,
    Converter,
    Domain,
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
from transom.languages.cql.unparse import format_text, unparse
from transom.languages.sql.syntax import (
    Binary,
    Exists,
    FunctionCall,
    InSubquery,
    Name,
    SelectItem,
    SqlLiteral,
    TypedLiteral,
    Unary,
)

ID, K = Name(None, "ID"), Name(None, "k")
ITEM = (SelectItem(ID),)
SPACE, TIME = Domain.SPACE, Domain.TIME


def length(amount: str, unit: str) -> Quantity:
    return Quantity(Decimal(amount), unit)


def window(text: str) -> WindowClause:
    """The window of a query with one source."""
    query = parse(f"SELECT ID FROM S [{text}]")
    assert isinstance(query, Select)
    source = query.tables[0]
    assert isinstance(source, Source)
    assert source.window is not None
    return source.window


HOUR = WindowClause((), (RangeClause(length("60", "minutes")),), SlideClause(length("10", "minutes")))
FIFTY = WindowClause((), (RangeClause(length("50", "km"), SPACE),), SlideClause(length("10", "km"), SPACE))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RANGE '60 minutes', SLIDE '10 minutes'", HOUR),
        ("RANGE '60 minutes' SLIDE '10 minutes'", HOUR),
        ("range 60 minutes slide 10 minutes", HOUR),
        ("RANGE 60 MINUTES, SLIDE 10 Minutes", HOUR),
        ("RANGE ‘60 minutes’, SLIDE ‘10 minutes’", HOUR),
        ("RANGE '60minutes', SLIDE ' 10  minutes '", HOUR),
        ("RANGE '3 seconds'", WindowClause((), (RangeClause(length("3", "seconds")),))),
        ("RANGE 1.5 h", WindowClause((), (RangeClause(length("1.5", "h")),))),
        ("RANGE '.5 h'", WindowClause((), (RangeClause(length("0.5", "h")),))),
        ("RANGE BY '50 km' RATTR SPACE, SLIDE BY '10 km' SATTR SPACE", FIFTY),
        ("RANGE BY ’50 km’ RATTR SPACE, SLIDE BY ’10 km’ SATTR SPACE", FIFTY),
        ("RANGE BY 50 km RATTR SPACE SLIDE BY 10 km SATTR SPACE", FIFTY),
        ("RANGE BY '50 km RATTR SPACE', SLIDE BY '10 km SATTR SPACE'", FIFTY),
        (
            "RANGE BY ‘50 kms’ RATTR SPACE, SLIDE BY ‘10 kms SATTR SPACE’",
            WindowClause((), (RangeClause(length("50", "kms"), SPACE),), SlideClause(length("10", "kms"), SPACE)),
        ),
        (
            "RANGE BY '20 km' RATTR SPACE, SLIDE BY '10 minutes' SATTR TIME",
            WindowClause((), (RangeClause(length("20", "km"), SPACE),), SlideClause(length("10", "minutes"), TIME)),
        ),
        ("RANGE BY Zone RATTR SPACE", WindowClause((), (RangeClause(RegionName("Zone"), SPACE),))),
        ('RANGE BY "East China Sea"', WindowClause((), (RangeClause(RegionName("East China Sea")),))),
        ("RANGE Zone", WindowClause((), (RangeClause(RegionName("Zone")),))),
        (
            "RANGE BY Zone RATTR SPACE, SLIDE BY '10 km' SATTR SPACE",
            WindowClause((), (RangeClause(RegionName("Zone"), SPACE),), SlideClause(length("10", "km"), SPACE)),
        ),
        (
            "RANGE BY Zone RATTR SPACE, RANGE BY '1 h' RATTR TIME",
            WindowClause((), (RangeClause(RegionName("Zone"), SPACE), RangeClause(length("1", "h"), TIME))),
        ),
        ("ROWS 5", WindowClause((), (RangeClause(RowQuantity(5)),))),
        ("ROW 1", WindowClause((), (RangeClause(RowQuantity(1)),))),
        ("ROWS 5 SLIDE 2", WindowClause((), (RangeClause(RowQuantity(5)),), SlideClause(RowQuantity(2)))),
        ("ROWS 5, SLIDE 2 ROWS", WindowClause((), (RangeClause(RowQuantity(5)),), SlideClause(RowQuantity(2)))),
        ("ROWS 5 SLIDE '1 h'", WindowClause((), (RangeClause(RowQuantity(5)),), SlideClause(length("1", "h")))),
        ("NOW", WindowClause(now=True)),
        ("UNBOUNDED", WindowClause()),
        ("Range Unbounded", WindowClause()),
        ("ROWS UNBOUNDED", WindowClause()),
        ("UNBOUNDED SLIDE '1 h'", WindowClause(slide=SlideClause(length("1", "h")))),
        ("RANGE UNBOUNDED, SLIDE '1 h'", WindowClause(slide=SlideClause(length("1", "h")))),
        ("PARTITION BY k ROWS 2", WindowClause((K,), (RangeClause(RowQuantity(2)),))),
        ("PARTITION BY k, S.ID ROWS 2", WindowClause((K, Name("S", "ID")), (RangeClause(RowQuantity(2)),))),
        ("PARTITION BY k, ID, ROWS 2", WindowClause((K, ID), (RangeClause(RowQuantity(2)),))),
        ('PARTITION BY k, "range" NOW', WindowClause((K, Name(None, "range")), now=True)),
        ("PARTITION BY k UNBOUNDED", WindowClause((K,))),
        (
            "PARTITION BY k RANGE BY '50 km' RATTR SPACE, SLIDE BY '10 km' SATTR SPACE",
            WindowClause((K,), FIFTY.ranges, FIFTY.slide),
        ),
    ],
)
def test_windows(text: str, expected: WindowClause) -> None:
    assert window(text) == expected


S = Source("S")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT RStream (ID) FROM S", Select(ITEM, (S,), converter=Converter.RSTREAM)),
        ("select istream(*) from S", Select((), (S,), converter=Converter.ISTREAM)),
        ("SELECT DSTREAM -- why\n (ID) FROM S", Select(ITEM, (S,), converter=Converter.DSTREAM)),
        ("RStream(SELECT ID FROM S)", Convert(Converter.RSTREAM, Select(ITEM, (S,)))),
        ("SELECT rstream FROM S", Select((SelectItem(Name(None, "rstream")),), (S,))),
        ("SELECT DISTINCT ID FROM S", Select(ITEM, (S,), distinct=True)),
        ("SELECT RStream(DISTINCT ID) FROM S", Select(ITEM, (S,), distinct=True, converter=Converter.RSTREAM)),
        ("SELECT DISTINCT RStream(ID) FROM S", Select(ITEM, (S,), distinct=True, converter=Converter.RSTREAM)),
        ("SELECT ID FROM R=S", Select(ITEM, (Source("S", "R"),))),
        ("SELECT ID FROM S AS R", Select(ITEM, (Source("S", "R"),))),
        ("SELECT ID FROM S AS R [NOW]", Select(ITEM, (Source("S", "R", WindowClause(now=True)),))),
        ("SELECT ID FROM R=S [NOW], S", Select(ITEM, (Source("S", "R", WindowClause(now=True)), S))),
        ("SELECT ID FROM R=(SELECT ID FROM S)", Select(ITEM, (Source(Select(ITEM, (S,)), "R"),))),
        ("SELECT ID FROM S JOIN t ON k", Select(ITEM, (Join(S, Source("t"), K),))),
        ("SELECT ID FROM S INNER JOIN t ON k", Select(ITEM, (Join(S, Source("t"), K),))),
        ("SELECT ID FROM S LEFT OUTER JOIN t ON k", Select(ITEM, (Join(S, Source("t"), K, True),))),
        (
            "SELECT ID FROM S LEFT JOIN t ON k JOIN R=u [NOW] ON ID, v",
            Select(
                ITEM,
                (Join(Join(S, Source("t"), K, True), Source("u", "R", WindowClause(now=True)), ID), Source("v")),
            ),
        ),
        ("SELECT ID FROM S WHERE LEFT(k, 1) = ‘o1’", None),
        (
            "SELECT ID FROM S WHERE k IN (SELECT ID FROM S)",
            Select(ITEM, (S,), InSubquery(K, Select(ITEM, (S,)), False)),
        ),
        (
            "SELECT ID FROM S WHERE k NOT IN (SELECT ID FROM S)",
            Select(ITEM, (S,), InSubquery(K, Select(ITEM, (S,)), True)),
        ),
        (
            "SELECT ID FROM S WHERE NOT EXISTS (SELECT ID FROM S)",
            Select(ITEM, (S,), Unary("NOT", Exists(Select(ITEM, (S,))))),
        ),
        ("SELECT ID FROM S WHERE t = TIME ‘0’", None),
    ],
)
def test_clauses(text: str, expected: Query | None) -> None:
    query = parse(text)
    if expected is not None:
        assert query == expected
    assert parse(unparse(query)) == query


def test_curly_quotes_are_quotes() -> None:
    query = parse("SELECT ID FROM S WHERE LEFT(k, 1) = ‘o1’ AND t = TIME ‘0’")
    assert isinstance(query, Select)
    assert unparse(query).endswith("WHERE LEFT(k, 1) = 'o1' AND t = TIME '0'")
    assert Binary("=", FunctionCall("LEFT", (K, SqlLiteral(1))), SqlLiteral("o1")) in getattr(
        query.where, "operands", ()
    )
    assert Binary("=", Name(None, "t"), TypedLiteral("TIME", "0")) in getattr(query.where, "operands", ())


ONE, TWO, THREE = (Select((SelectItem(SqlLiteral(n)),), (S,)) for n in (1, 2, 3))
UNION, EXCEPT, INTERSECT = SetOperator.UNION, SetOperator.EXCEPT, SetOperator.INTERSECT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 UNION 2", SetOperation(UNION, False, ONE, TWO)),
        ("1 UNION ALL 2", SetOperation(UNION, True, ONE, TWO)),
        ("1 EXCEPT 2 UNION 3", SetOperation(UNION, False, SetOperation(EXCEPT, False, ONE, TWO), THREE)),
        ("1 EXCEPT (2 UNION 3)", SetOperation(EXCEPT, False, ONE, SetOperation(UNION, False, TWO, THREE))),
        ("1 UNION 2 INTERSECT ALL 3", SetOperation(UNION, False, ONE, SetOperation(INTERSECT, True, TWO, THREE))),
        ("(1 UNION 2) INTERSECT 3", SetOperation(INTERSECT, False, SetOperation(UNION, False, ONE, TWO), THREE)),
        ("((1)) UNION (2)", SetOperation(UNION, False, ONE, TWO)),
    ],
)
def test_combinations(text: str, expected: Query) -> None:
    written = "".join(f"SELECT {sign} FROM S" if sign.isdigit() else sign for sign in text)
    assert parse(written) == expected
    assert parse(unparse(expected)) == expected


@pytest.mark.parametrize("case", golden_cases("cql"), ids=lambda case: case.name)
def test_golden_texts_parse(case: object) -> None:
    text: str = case.text  # type: ignore[attr-defined]
    query = parse(text)
    assert parse(unparse(query)) == query
    curly = text.replace("'", "’")
    assert parse(curly) == query


UNTIDY = """\
-- the slow ones
select rstream( id,avgspd(r) ) -- per car
from r=cars[partition by id range by 50 km rattr space slide by ‘10 kms sattr space’]
  left join owners on r.id=owners.id, -- and where
  (select * from zones[now]) as z
where id in(select id from bad) and not exists(select * from z -- none
 ) union all select 1 from x
"""

TIDY = """\
-- the slow ones
SELECT RStream(id, AvgSpd(r))
-- per car
FROM cars [PARTITION BY id RANGE BY '50 km' RATTR SPACE, SLIDE BY '10 kms' SATTR SPACE] AS r
     LEFT JOIN owners ON r.id = owners.id,
     -- and where
     (
       SELECT *
       FROM zones [NOW]
     ) AS z
WHERE id IN (SELECT id FROM bad) AND NOT EXISTS (SELECT * FROM z)
-- none
UNION ALL
SELECT 1
FROM x
"""


def test_format() -> None:
    assert format_text(UNTIDY, parse(UNTIDY)) == TIDY
    assert format_text(TIDY, parse(TIDY)) == TIDY


def test_places() -> None:
    text = "SELECT ID FROM S [RANGE BY '50 kms' RATTR SPACE]"
    query = parse(text)
    assert isinstance(query, Select)
    source = query.tables[0]
    assert isinstance(source, Source)
    assert source.window is not None
    reach = source.window.ranges[0]
    assert isinstance(reach.value, Quantity)
    found = [source.window.span, reach.span, reach.value.span, reach.value.unit_span]
    words = ["[RANGE BY '50 kms' RATTR SPACE]", "RANGE BY '50 kms' RATTR SPACE", "'50 kms'", "kms"]
    assert [text[span.start : span.end] for span in found] == words


@pytest.mark.parametrize(
    "text",
    ["RANGE", "RANGE 5", "RANGE '5'", "ROWS", "SLIDE 5", "RANGE 1 h SLIDE 1 h SLIDE 2 h", "NOW SLIDE 1", "ROWS -1", ""],
)
def test_windows_that_are_none(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        window(text)
    assert caught.value.span is not None
    assert caught.value.hint
