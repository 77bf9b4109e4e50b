"""Literals of several types, and functions over them, for questions in SPARQL.

Left out is what pyoxigraph does in another way than the recommendation: it keeps 1.0 as 1, and gives an error for the
effective boolean value of strings with a language and of ill-typed numbers, which are true and false (Sec. 17.2.2).
"""

from __future__ import annotations

XSD = "http://www.w3.org/2001/XMLSchema#"

LITERALS = (
    "1",
    "2",
    "-3",
    "0",
    "2.5",
    "-0.5",
    "1.5",
    '"x"',
    '"Hello"',
    '"hello"@en',
    '"12"',
    '""',
    f'"2020-02-29T23:30:05Z"^^<{XSD}dateTime>',
    f'"2021-01-01T00:00:00Z"^^<{XSD}dateTime>',
    f'"true"^^<{XSD}boolean>',
    f'"false"^^<{XSD}boolean>',
    f'"15"^^<{XSD}double>',
    ":a",
)

VALUES = (
    "STRLEN(STR(?y))",
    "UCASE(STR(?y))",
    "SUBSTR(STR(?y), 2)",
    "SUBSTR(STR(?y), 1, 2)",
    "CONCAT(STR(?y), '-', STR(?x))",
    "STRBEFORE(STR(?y), 'l')",
    "STRAFTER(STR(?y), 'e')",
    "REPLACE(STR(?y), 'l', 'L')",
    "ENCODE_FOR_URI(STR(?y))",
    "MD5(STR(?y))",
    "LANG(?y)",
    "DATATYPE(?y)",
    "LCASE(STRLANG(STR(?y), 'de'))",
    "ABS(?y)",
    "CEIL(?y)",
    "FLOOR(?y)",
    "ROUND(?y)",
    "?y + 1",
    "?y - 0.5",
    "?y * ?y",
    "?y / 2",
    "-?y",
    "?y = 1",
    "?y != 'x'",
    "?y < 2",
    "?y >= 'Hello'",
    "!IF(isNumeric(?y), ?y, STR(?y))",
    "IF(isNumeric(?y), ?y, STR(?y)) && true",
    "?y = 2 || ?y > 1",
    "?y IN (1, 2.5, 'x')",
    "?y NOT IN (1, 'hello'@en)",
    "IF(?y > 0, 'yes', 'no')",
    "COALESCE(?y + 1, STR(?y))",
    "isLiteral(?y)",
    "isNumeric(?y)",
    "sameTerm(?y, 1)",
    "YEAR(?y)",
    "MONTH(?y) + DAY(?y)",
    "HOURS(?y) * 60 + MINUTES(?y)",
    "CONTAINS(STR(?y), 'l')",
    "STRSTARTS(?y, 'H')",
    "STRENDS(STR(?y), 'o')",
    "langMatches(LANG(?y), 'EN')",
    "REGEX(STR(?y), '^h', 'i')",
    f"<{XSD}integer>(?y)",
    f"<{XSD}decimal>(?y)",
    f"<{XSD}boolean>(?y)",
    f"<{XSD}double>(?y)",
    f"<{XSD}dateTime>(?y)",
)

TRUTH = ("=", "?y <", "IN (", "sameTerm", "CONTAINS", "STRSTARTS", "STRENDS", "langMatches", "REGEX", "boolean>")
CONDITIONS = tuple(value for value in VALUES if value.startswith("is") or any(word in value for word in TRUTH))
