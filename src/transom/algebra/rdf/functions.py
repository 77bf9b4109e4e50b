"""The functions and operators of SPARQL 1.1: how many arguments each takes and what it means.

SPARQL has no types to check beforehand: an argument that does not fit is an error of that one solution. A function is
strict unless it says otherwise: an error or an unbound variable in, an error out.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Function:
    """One function: its name, its meaning, how many arguments it takes, and how it treats errors.

    `most` is None where any number may come. A form that is not strict looks at its arguments itself. A volatile
    function is no function of its arguments: over streams it has no meaning (R28).
    """

    name: str
    meaning: str = field(compare=False)
    group: str = field(compare=False)
    least: int = field(compare=False)
    most: int | None = field(compare=False)
    strict: bool = field(default=True, compare=False)
    volatile: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return self.name


FUNCTIONS: dict[str, Function] = {}


def _add(group: str, *rows: tuple[str, int, int | None, str], strict: bool = True, volatile: bool = False) -> None:
    for name, least, most, meaning in rows:
        FUNCTIONS[name] = Function(name, meaning, group, least, most, strict, volatile)


_add(
    "form",
    ("BOUND", 1, 1, "whether a variable has a term"),
    ("IF", 3, 3, "the second argument where the first is true, else the third"),
    ("COALESCE", 0, None, "the first argument that is no error"),
    ("||", 2, 2, "true if one side is true, even if the other is an error"),
    ("&&", 2, 2, "false if one side is false, even if the other is an error"),
    ("IN", 1, None, "whether the first argument equals one of the others"),
    ("NOT IN", 1, None, "whether the first argument equals none of the others"),
    strict=False,
)
_add(
    "comparison",
    ("=", 2, 2, "whether two terms have the same value; an error where that is not known"),
    ("!=", 2, 2, "whether two terms have different values"),
    ("<", 2, 2, "whether the first value comes before the second"),
    (">", 2, 2, "whether the first value comes after the second"),
    ("<=", 2, 2, "whether the first value comes before the second or is equal"),
    (">=", 2, 2, "whether the first value comes after the second or is equal"),
    ("sameTerm", 2, 2, "whether two terms are the same, character by character"),
    ("!", 1, 1, "the opposite truth value"),
)
_add(
    "number",
    ("+", 2, 2, "sum"),
    ("-", 2, 2, "difference"),
    ("*", 2, 2, "product"),
    ("/", 2, 2, "quotient; two integers give a decimal"),
    ("unary +", 1, 1, "the number itself"),
    ("unary -", 1, 1, "the number with the other sign"),
    ("ABS", 1, 1, "the number without its sign"),
    ("ROUND", 1, 1, "the nearest whole number; a half goes up"),
    ("CEIL", 1, 1, "the smallest whole number that is not less"),
    ("FLOOR", 1, 1, "the largest whole number that is not greater"),
)
_add("number", ("RAND", 0, 0, "a random number from 0 up to 1"), volatile=True)
_add(
    "term",
    ("isIRI", 1, 1, "whether the term is a name"),
    ("isURI", 1, 1, "whether the term is a name"),
    ("isBLANK", 1, 1, "whether the term is a blank node"),
    ("isLITERAL", 1, 1, "whether the term is a literal"),
    ("isNUMERIC", 1, 1, "whether the term is a number, and a well-formed one"),
    ("STR", 1, 1, "the characters of a name or a literal"),
    ("LANG", 1, 1, "the language of a literal, empty if it has none"),
    ("DATATYPE", 1, 1, "the datatype of a literal"),
    ("IRI", 1, 2, "the name that a string spells, seen from the name that comes second"),
    ("URI", 1, 2, "the name that a string spells, seen from the name that comes second"),
    ("BNODE", 0, 1, "a new blank node; the same one for the same string in one solution"),
    ("STRDT", 2, 2, "a literal of characters and a datatype"),
    ("STRLANG", 2, 2, "a literal of characters and a language"),
)
_add("term", ("UUID", 0, 0, "a new name"), ("STRUUID", 0, 0, "the characters of a new name"), volatile=True)
_add(
    "string",
    ("STRLEN", 1, 1, "how many characters"),
    ("SUBSTR", 2, 3, "the characters from a place on, counted from 1, and at most so many"),
    ("UCASE", 1, 1, "in capital letters"),
    ("LCASE", 1, 1, "in small letters"),
    ("STRSTARTS", 2, 2, "whether the first string begins with the second"),
    ("STRENDS", 2, 2, "whether the first string ends with the second"),
    ("CONTAINS", 2, 2, "whether the second string is part of the first"),
    ("STRBEFORE", 2, 2, "what comes before the second string in the first"),
    ("STRAFTER", 2, 2, "what comes after the second string in the first"),
    ("ENCODE_FOR_URI", 1, 1, "with all but letters, digits and - _ . ~ in percent signs"),
    ("CONCAT", 0, None, "one string after the other"),
    ("langMatches", 2, 2, "whether a language tag lies in a range of languages"),
    ("REGEX", 2, 3, "whether a pattern is found in the string; flags come third"),
    ("REPLACE", 3, 4, "every match of a pattern replaced; flags come fourth"),
)
_add(
    "time",
    ("YEAR", 1, 1, "the year"),
    ("MONTH", 1, 1, "the month"),
    ("DAY", 1, 1, "the day"),
    ("HOURS", 1, 1, "the hours"),
    ("MINUTES", 1, 1, "the minutes"),
    ("SECONDS", 1, 1, "the seconds, as a decimal"),
    ("TIMEZONE", 1, 1, "the time zone as a duration; an error where there is none"),
    ("TZ", 1, 1, "the time zone as it is written, empty where there is none"),
)
_add("time", ("NOW", 0, 0, "when the query is asked"), volatile=True)
_add(
    "hash",
    *((name, 1, 1, f"the {name} digest in hexadecimal") for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")),
)
_add(
    "cast",
    *(
        (f"xsd:{name}", 1, 1, f"the value as {name}")
        for name in ("string", "boolean", "integer", "decimal", "float", "double", "dateTime", "date", "time")
    ),
    *((f"xsd:{name}", 1, 1, f"the value as {name}") for name in ("duration", "dayTimeDuration", "yearMonthDuration")),
)

AGGREGATES: dict[str, str] = {
    "COUNT": "how many solutions, or how many of them give a value",
    "SUM": "the sum, 0 of nothing; an error if one value is no number",
    "AVG": "the mean, 0 of nothing; an error if one value is no number",
    "MIN": "the first value in the order of ORDER BY",
    "MAX": "the last value in the order of ORDER BY",
    "SAMPLE": "the first value in a fixed order; any would do",
    "GROUP_CONCAT": "all strings with a separator between them, in a fixed order",
}
"""The aggregates, with their meaning."""
