"""The functions and operators of SPARQL 1.1 over terms: one more family of the functions that expressions may call.

SPARQL has no types to check beforehand: an argument that does not fit is an error, and an error is NULL. A truth value
and a term become each other by a cast: a term's effective boolean value, and a literal of xsd:boolean. `&&`, `||` and
`!` are AND, OR and NOT.
"""

from __future__ import annotations

from transom.algebra.functions import Function, Signature
from transom.model.types import Type

B, T = Type.BOOLEAN, Type.TERM
TERM_FUNCTIONS: dict[str, Function] = {}
LOGIC = {"||": "OR", "&&": "AND", "!": "NOT"}
"""The operators of SPARQL that are functions of truth values, under other names."""


def _add(
    group: str,
    *rows: tuple[str, int, int | None, str],
    result: Type = T,
    infix: bool = False,
    strict: bool = True,
    volatile: bool = False,
) -> None:
    """Add functions of terms, each with the least and the most of its arguments; None is any number."""
    for name, least, most, meaning in rows:
        signatures = tuple(Signature((T,) * count, result) for count in range(least, (most or least) + 1))
        if most is None:
            signatures += (Signature((T,) * max(least, 1), result, repeats=True),)
        TERM_FUNCTIONS[name] = Function(name, signatures, meaning, group, infix, strict, "terms", volatile)


_add("form", ("BOUND", 1, 1, "whether a variable has a term"), result=B, strict=False)
TERM_FUNCTIONS["IF"] = Function(
    "IF",
    (Signature((B, T, T), T),),
    "the second argument where the first is true, else the third",
    "form",
    strict=False,
    family="terms",
)
_add("form", ("COALESCE", 0, None, "the first argument that is no error"), strict=False)
_add("form", ("IN", 1, None, "whether the first argument equals one of the others"), result=B, strict=False)
_add(
    "comparison",
    ("=", 2, 2, "whether two terms have the same value; an error where that is not known"),
    ("!=", 2, 2, "whether two terms have different values"),
    ("<", 2, 2, "whether the first value comes before the second"),
    (">", 2, 2, "whether the first value comes after the second"),
    ("<=", 2, 2, "whether the first value comes before the second or is equal"),
    (">=", 2, 2, "whether the first value comes after the second or is equal"),
    result=B,
    infix=True,
)
_add("comparison", ("sameTerm", 2, 2, "whether two terms are the same, character by character"), result=B)
_add(
    "number",
    ("+", 2, 2, "sum"),
    ("-", 2, 2, "difference"),
    ("*", 2, 2, "product"),
    ("/", 2, 2, "quotient; two integers give a decimal"),
    infix=True,
)
_add(
    "number",
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
    result=B,
)
_add(
    "term",
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
    ("STRBEFORE", 2, 2, "what comes before the second string in the first"),
    ("STRAFTER", 2, 2, "what comes after the second string in the first"),
    ("ENCODE_FOR_URI", 1, 1, "with all but letters, digits and - _ . ~ in percent signs"),
    ("CONCAT", 0, None, "one string after the other"),
    ("REPLACE", 3, 4, "every match of a pattern replaced; flags come fourth"),
)
_add(
    "string",
    ("STRSTARTS", 2, 2, "whether the first string begins with the second"),
    ("STRENDS", 2, 2, "whether the first string ends with the second"),
    ("CONTAINS", 2, 2, "whether the second string is part of the first"),
    ("langMatches", 2, 2, "whether a language tag lies in a range of languages"),
    ("REGEX", 2, 3, "whether a pattern is found in the string; flags come third"),
    result=B,
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
