"""The functions and operators of SPARQL 1.1 over terms, with their signatures.

SPARQL has no static types: an argument of the wrong type is an error, and an error is NULL. Casts convert between
booleans and terms: a term to its effective boolean value, a boolean to a literal of xsd:boolean. `&&`, `||` and `!` are
AND, OR and NOT.
"""

from __future__ import annotations

from transom.algebra.expressions.functions import Function, Signature
from transom.model.types import Type

B, T = Type.BOOLEAN, Type.TERM
TERM_FUNCTIONS: dict[str, Function] = {}
LOGIC = {"||": "OR", "&&": "AND", "!": "NOT"}
"""Boolean operators of SPARQL, with the names of the functions that implement them."""


def _register(
    group: str,
    *rows: tuple[str, int, int | None, str],
    result: Type = T,
    infix: bool = False,
    null_if_any_null: bool = True,
    volatile: bool = False,
) -> None:
    """Register functions of topic `group`: (name, fewest, most arguments or None for any, meaning); `volatile`: as NOW.

    A strict function is NULL if an argument is NULL. A volatile one, such as NOW(), depends on more than its arguments.
    """
    for name, least, most, meaning in rows:
        signatures = tuple(Signature((T,) * count, result) for count in range(least, (most or least) + 1))
        if most is None:
            signatures += (Signature((T,) * max(least, 1), result, repeats=True),)
        TERM_FUNCTIONS[name] = Function(name, signatures, meaning, group, infix, null_if_any_null, "terms", volatile)


_register("form", ("BOUND", 1, 1, "whether a variable is bound"), result=B, null_if_any_null=False)
TERM_FUNCTIONS["IF"] = Function(
    "IF",
    (Signature((B, T, T), T),),
    "the second argument if the first argument is true, otherwise the third argument",
    "form",
    strict=False,
    family="terms",
)
_register("form", ("COALESCE", 0, None, "the first argument that is not an error"), null_if_any_null=False)
_register(
    "form",
    ("IN", 1, None, "whether the first argument equals one of the other arguments"),
    result=B,
    null_if_any_null=False,
)
_register(
    "comparison",
    ("=", 2, 2, "whether two terms have the same value; an error if the terms cannot be compared"),
    ("!=", 2, 2, "whether two terms have different values"),
    ("<", 2, 2, "whether the first value comes before the second value"),
    (">", 2, 2, "whether the first value comes after the second value"),
    ("<=", 2, 2, "whether the first value comes before the second value, or is equal to it"),
    (">=", 2, 2, "whether the first value comes after the second value, or is equal to it"),
    result=B,
    infix=True,
)
_register("comparison", ("sameTerm", 2, 2, "whether two terms are identical, character by character"), result=B)
_register(
    "number",
    ("+", 2, 2, "sum"),
    ("-", 2, 2, "difference"),
    ("*", 2, 2, "product"),
    ("/", 2, 2, "the quotient; two integers give a decimal"),
    infix=True,
)
_register(
    "number",
    ("unary +", 1, 1, "the number itself"),
    ("unary -", 1, 1, "the number with the opposite sign"),
    ("ABS", 1, 1, "the absolute value"),
    ("ROUND", 1, 1, "the number rounded to the nearest integer; a half is rounded up"),
    ("CEIL", 1, 1, "the smallest integer that is not less than the argument"),
    ("FLOOR", 1, 1, "the largest integer that is not greater than the argument"),
)
_register("number", ("RAND", 0, 0, "a random number that is at least 0 and less than 1"), volatile=True)
_register(
    "term",
    ("isIRI", 1, 1, "whether the term is an IRI"),
    ("isURI", 1, 1, "whether the term is an IRI"),
    ("isBLANK", 1, 1, "whether the term is a blank node"),
    ("isLITERAL", 1, 1, "whether the term is a literal"),
    ("isNUMERIC", 1, 1, "whether the term is a valid numeric literal"),
    result=B,
)
_register(
    "term",
    ("STR", 1, 1, "the text of an IRI or a literal"),
    ("LANG", 1, 1, "the language tag of a literal, or an empty string if the literal has no tag"),
    ("DATATYPE", 1, 1, "the datatype of a literal"),
    ("IRI", 1, 2, "the string as an IRI; the base IRI of the query completes a relative IRI"),
    ("URI", 1, 2, "the string as an IRI; the base IRI of the query completes a relative IRI"),
    ("BNODE", 0, 1, "a new blank node; within one solution, equal strings give the same node"),
    ("STRDT", 2, 2, "a literal with the given text and datatype"),
    ("STRLANG", 2, 2, "a literal with the given text and language"),
)
_register(
    "term",
    ("UUID", 0, 0, "a new IRI with a random UUID"),
    ("STRUUID", 0, 0, "a random UUID as a string"),
    volatile=True,
)
_register(
    "string",
    ("STRLEN", 1, 1, "the number of characters"),
    (
        "SUBSTR",
        2,
        3,
        "the characters from a position on; the first position is 1, "
        "and a third argument limits the number of characters",
    ),
    ("UCASE", 1, 1, "the string in upper case"),
    ("LCASE", 1, 1, "the string in lower case"),
    ("STRBEFORE", 2, 2, "the part of the first string that precedes the second string"),
    ("STRAFTER", 2, 2, "the part of the first string that follows the second string"),
    ("ENCODE_FOR_URI", 1, 1, "the string in percent-encoding; letters, digits and - _ . ~ are not encoded"),
    ("CONCAT", 0, None, "the concatenation of all strings"),
    (
        "REPLACE",
        3,
        4,
        "the string with every match of a pattern replaced; the arguments are string, pattern, replacement and flags",
    ),
)
_register(
    "string",
    ("STRSTARTS", 2, 2, "whether the first string begins with the second string"),
    ("STRENDS", 2, 2, "whether the first string ends with the second string"),
    ("CONTAINS", 2, 2, "whether the second string occurs in the first string"),
    ("langMatches", 2, 2, "whether a language tag matches a language range"),
    ("REGEX", 2, 3, "whether a pattern matches anywhere in the string; a third argument contains flags"),
    result=B,
)
_register(
    "time",
    ("YEAR", 1, 1, "the year"),
    ("MONTH", 1, 1, "the month"),
    ("DAY", 1, 1, "the day"),
    ("HOURS", 1, 1, "the hours"),
    ("MINUTES", 1, 1, "the minutes"),
    ("SECONDS", 1, 1, "the seconds, as a decimal"),
    ("TIMEZONE", 1, 1, "the time zone as a duration; an error if the argument has no time zone"),
    ("TZ", 1, 1, "the time zone as it is written, or an empty string if the argument has no time zone"),
)
_register("time", ("NOW", 0, 0, "the time at which the query runs"), volatile=True)
_register(
    "hash",
    *(
        (name, 1, 1, f"the {name} digest of a string, in hexadecimal")
        for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")
    ),
)
_register(
    "cast",
    *(
        (f"xsd:{name}", 1, 1, f"the value converted to the datatype {name}")
        for name in ("string", "boolean", "integer", "decimal", "float", "double", "dateTime", "date", "time")
    ),
    *(
        (f"xsd:{name}", 1, 1, f"the value converted to the datatype {name}")
        for name in ("duration", "dayTimeDuration", "yearMonthDuration")
    ),
)
