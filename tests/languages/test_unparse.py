"""Canonical text: one clause per line, no more parentheses than needed, comments before their clauses."""

from __future__ import annotations

import pytest

from transom.languages.sneeql.parse import parse
from transom.languages.sneeql.unparse import format_text, unparse


@pytest.mark.parametrize(
    "expression",
    [
        "a + b * c",
        "(a + b) * c",
        "a - b - c",
        "a - (b - c)",
        "a || b + c",
        "-a * b",
        "-(a * b)",
        "- -1",
        "- +a",
        "a - -1",
        "a = b",
        "(a = b) = c",
        "a OR b AND c",
        "(a OR b) AND c",
        "(a AND b) AND c",
        "NOT a AND b",
        "NOT (a AND b)",
        "NOT NOT a",
        "NOT a = b",
        "(NOT a) = b",
        "(NOT a) IS NULL",
        "a IS NOT NULL",
        "a NOT IN (1, b AND c)",
        "a BETWEEN b AND c AND d",
        "a BETWEEN b AND (c AND d)",
        "a NOT LIKE b || c",
        "CASE a OR b WHEN 1 THEN 2 ELSE 3 END + 1",
        "CAST(a OR b AS float)",
        "COUNT(*) + MAX(a)",
        "TIME '2009-03-01'",
        "1e-07 + 1e+300 + 0.1",
        "NULL IS NULL",
        "TRUE",
        "'it''s'",
        '"select"."a b"',
    ],
)
def test_canonical_expressions_stay(expression: str) -> None:
    text = f"SELECT {expression}\nFROM road"
    assert unparse(parse(text)) == text


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("((a))+(b)", "a + b"),
        ("a!=b", "a <> b"),
        ("a \u2212 b", "a - b"),
        ("(a * b) + (c)", "a * b + c"),
        ("not(a)", "NOT a"),
        ("count( * )", "COUNT(*)"),
        ("cast(a as FLOAT)", "CAST(a AS float)"),
        ("case when(a)then b end", "CASE WHEN a THEN b END"),
        ('"a"', "a"),
        ("1.50", "1.5"),
        ("1E3", "1000.0"),
        ("007", "7"),
        ("time'0'", "TIME '0'"),
        ("a in(1,2)", "a IN (1, 2)"),
    ],
)
def test_expressions_are_made_canonical(written: str, canonical: str) -> None:
    assert unparse(parse(f"SELECT {written} FROM road")) == f"SELECT {canonical}\nFROM road"


UNTIDY = """\
-- the warmest
istream(select r.site, max(temp) as top -- per site
from road as r[from now-5 to now-0 slide 1 min],-- then the table
 tempClass   -- scanned
 [scan 10 row], ( -- inner
   select * from "my road" where a and b)as s
where r.temp=tempClass.temp -- join
group by r.site having count(*)>1);  -- the end
"""

TIDY = """\
-- the warmest
ISTREAM(
  SELECT r.site, MAX(temp) AS top
  -- per site
  FROM road [FROM NOW-5 TO NOW SLIDE 1 MIN] AS r,
       -- then the table
       tempClass [SCAN 10 ROWS],
       -- scanned
       (
         -- inner
         SELECT *
         FROM "my road"
         WHERE a AND b
       ) AS s
  WHERE r.temp = tempClass.temp
  -- join
  GROUP BY r.site
  HAVING COUNT(*) > 1
)
-- the end
"""


def test_format() -> None:
    assert format_text(UNTIDY, parse(UNTIDY)) == TIDY
    assert format_text(TIDY, parse(TIDY)) == TIDY
    assert unparse(parse(UNTIDY)) + "\n" == "".join(
        line for line in TIDY.splitlines(keepends=True) if not line.strip().startswith("--")
    )
