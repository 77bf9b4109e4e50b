"""Terms and expressions over them, drawn: all datatypes, well-formed and not, and every function."""

from __future__ import annotations

from random import Random

from transom.algebra.expressions import expression
from transom.algebra.expressions.expression import Expression
from transom.algebra.expressions.terms import term_call, term_literal, variable
from transom.model.rdf.terms import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DAY_TIME,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    INTEGER,
    IRI,
    TIME,
    XSD,
    YEAR_MONTH,
    BlankNode,
    Literal,
    Term,
)

WHOLE = (
    "0",
    "-0",
    "1",
    "+7",
    "007",
    "-12",
    "255",
    "300",
    "-129",
    "9007199254740993",
    "1" + "0" * 19,
    "9" * 38,
    "1" * 39,
)
POINT = (
    "0.0", "-0.0", "1.5", "2.50", "-2.5", ".5", "-.5", "3.", "0.1", "99.999999999999999999", "123456789.987654321",
    "0.000000000000000001", "9" * 20, "9" * 21, "0.0000000000000000001", "1234567890123456.75", "-0.3",
)  # fmt: skip
FLOATING = (
    "1e0", "1.5e2", "-0.0", "0", "NaN", "INF", "-INF", "+INF", "1e400", "5e-324", "2.2250738585072014e-308", "1e23",
    "0.1", "0.30000000000000004", "1e-7", "123456.789", "1234567.5", "9007199254740993", "8.41e21", "2e-3", "-1e-300",
    "16777217", "3.4028236e38", "1e-45", "131072.125", "0.49999999999999994", "-0.4", "2.5", "-2.5", "1e19", "1e37",
)  # fmt: skip
TIMES = (
    "2020-02-29T12:30:45Z", "2020-02-29T12:30:45", "2019-02-29T12:30:45", "2020-02-29T24:00:00", "2020-12-31T24:00:00Z",
    "2020-02-29T12:30:45.5000+05:30", "2020-02-29T07:00:45.5Z", "2020-02-29T24:00:01", "-0044-03-15T00:00:00Z",
    "12020-01-01T00:00:00-14:00", "2020-01-01T00:00:00+14:01", "2020-02-29", "2020-02-29Z", "2020-02-28-05:00",
    "2020-13-01", "12:30:45", "12:30:45Z", "24:00:00", "12:30:60", "12:30:45.123456789", "2020-02-29T02:30:45",
    "0000-01-01T00:00:00", "1969-12-31T23:59:59.999", "2020-02-29T12:30:45.1234567891", "-0004-02-29", "-0001-02-29",
    "1900-02-29", "2000-02-29", "2399-12-31T24:00:00", "-0001-12-31T24:00:00Z", "123456789-12-31T24:00:00",
    "-123456789-01-01", "2020-00-10", "2020-04-31",
)  # fmt: skip
SPANS = (
    "P1Y", "-P1Y2M", "P14M", "PT0S", "-PT0S", "P1DT2H3M4.50S", "PT36H", "P1DT12H", "P", "P1YT", "P1Y1D", "P0M", "PT61S",
    "P1M", "P30D", "-P3D", "PT0.000000001S", "P1S",
)  # fmt: skip
WORDS = (
    "", "a", "b", "abc", "ABC", "Straße", "q\"uo\\te", "line\nbreak\ttab\r", "\x00\x01\x1f\x7f", "\\u0041", "\\\\n",
    "😀é漢字", "a😀b", " 12 ", "1", "true", "1.5", "1e3", "en", "en-GB", "*", "http://e.org/x", "no name", "mailto:a@b",
    "100% ~*+ü/?", "12:30:45", "2020-02-29", "P1D", "x y", "aXbXc", "-5", "{}", "-0", " 2020-02-29T12:30:45Z ",
)  # fmt: skip

_OTHERS = tuple(XSD + name for name in ("byte", "unsignedByte", "nonNegativeInteger", "negativeInteger", "long"))
SAID = {
    **dict.fromkeys((INTEGER, *_OTHERS), WHOLE),
    DECIMAL: (*POINT, *WHOLE),
    FLOAT: FLOATING,
    DOUBLE: FLOATING,
    BOOLEAN: ("true", "false", "1", "0", " true ", "TRUE", "yes", ""),
    **dict.fromkeys((DATE_TIME, DATE, TIME), TIMES),
    **dict.fromkeys((DURATION, DAY_TIME, YEAR_MONTH), SPANS),
}


def every_term() -> list[Term]:
    """All terms that stand for something of their own, and some that stand for nothing."""
    found: list[Term] = [
        IRI("http://e.org/x"),
        IRI("http://e.org/a b<é"),
        IRI(INTEGER),
        BlankNode("x"),
        BlankNode("y1"),
    ]
    found += [Literal(text) for text in WORDS]
    found += [Literal(text, language=tag) for text in ("", "a", "abc", "b", "😀\n") for tag in ("en", "EN-gb", "de")]
    found += [Literal(text, datatype) for datatype, texts in SAID.items() for text in texts]
    found += [Literal(" 1 ", INTEGER), Literal("x", INTEGER), Literal("1.0", INTEGER), Literal("", DOUBLE)]
    found += [Literal("1", "http://e.org/own"), Literal("2", "http://e.org/own"), Literal("a\tb", "http://e.org/own")]
    return list(dict.fromkeys(found))


def rows(random: Random, count: int) -> list[tuple[Term | None, Term | None]]:
    """Pairs of terms: every term comes first once, half of the seconds are of the same datatype; some are unbound."""
    terms = every_term()
    alike: dict[object, list[Term]] = {}
    for term in terms:
        alike.setdefault(_family(term), []).append(term)
    firsts = [*terms, *(random.choice(terms) for _ in range(count - len(terms)))]
    found: list[tuple[Term | None, Term | None]] = [
        (one, random.choice(alike[_family(one)] if random.random() < 0.6 else terms)) for one in firsts
    ]
    return [*found, (None, terms[0]), (terms[0], None), (None, None), (Literal("1", INTEGER), None)]


def _family(term: Term) -> object:
    if not isinstance(term, Literal):
        return type(term)
    numbers = (INTEGER, DECIMAL, FLOAT, DOUBLE, *_OTHERS)
    return "number" if term.datatype in numbers else term.datatype


A, B = variable("a"), variable("b")
UNARY = (
    "!", "unary +", "unary -", "ABS", "ROUND", "CEIL", "FLOOR", "isIRI", "isBLANK", "isLITERAL", "isNUMERIC", "STR",
    "LANG", "DATATYPE", "IRI", "STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES",
    "SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1", "SHA256", "SHA384", "SHA512", "BOUND", "xsd:string", "xsd:boolean",
    "xsd:integer", "xsd:decimal", "xsd:float", "xsd:double", "xsd:dateTime", "xsd:date", "xsd:time", "xsd:duration",
    "xsd:dayTimeDuration", "xsd:yearMonthDuration",
)  # fmt: skip
BINARY = (
    "=", "!=", "<", ">", "<=", ">=", "sameTerm", "+", "-", "*", "/", "||", "&&", "IN", "NOT IN", "STRDT", "STRLANG",
    "STRSTARTS", "STRENDS", "CONTAINS", "STRBEFORE", "STRAFTER", "CONCAT", "langMatches", "SUBSTR", "COALESCE",
)  # fmt: skip


def simple() -> list[Expression]:
    """Every function on variables, and those that are quicker with constants on constants."""
    found: list[Expression] = [term_call(name, A) for name in UNARY]
    found += [term_call(name, A, B) for name in BINARY]
    constants: list[Term] = [Literal("1", INTEGER), Literal("0.1", DECIMAL), Literal("a"), IRI("http://e.org/x")]
    constants += [Literal("a", language="en"), Literal("2020-02-29T12:30:45Z", DATE_TIME), Literal("1", BOOLEAN)]
    for term in constants:
        found += [term_call(name, A, term_literal(term)) for name in ("=", "<", ">=")]
    found += [
        term_call("IN", A),
        term_call("IN", A, term_literal(constants[0]), B, term_literal(constants[2])),
        term_call("COALESCE"),
    ]
    found += [
        term_call("IF", A, B, A),
        term_call("CONCAT"),
        term_call("CONCAT", A, B, A),
        term_call("SUBSTR", A, number(2), B),
    ]
    found += [term_call("SUBSTR", A, number(0), number(3)), term_call("STRLANG", term_call("STR", A), text("EN-us"))]
    found += [
        term_call("STRDT", term_call("STR", A), term_literal(IRI(datatype))) for datatype in (INTEGER, XSD + "string")
    ]
    for pattern, flags in PATTERNS:
        last = (text(flags),) if flags else ()
        found.append(term_call("REGEX", A, text(pattern), *last))
        found.append(term_call("REPLACE", term_call("STR", A), text(pattern), text("<$1$0\\$>"), *last))
    return found


PATTERNS = (
    ("a", ""), ("^A.C$", "i"), ("(b)|(X)", ""), ("[^a-c1]+", ""), ("\\d+", ""), ("\\w", ""), ("\\s", ""), ("\\S+", ""),
    ("^b", "m"), ("k$", "m"),
    (".+", "s"), (".+", ""), ("a b", "x"), ("a*", ""), ("(a", ""), ("A.", "q"), ("[&é\\d]", ""),
    ("(.)(.)\\2", ""), ("o{1,2}", ""), ("STRASSE|straße", "i"), ("a", "z"), ("[.$]", ""), ("😀.", ""), ("\\\\", ""),
)  # fmt: skip


def number(value: int) -> expression.Constant:
    """A whole number."""
    return term_literal(Literal(str(value), INTEGER))


def text(characters: str) -> expression.Constant:
    """A string."""
    return term_literal(Literal(characters))


def nested(random: Random, depth: int) -> Expression:
    """A drawn expression of calls in calls."""
    if depth == 0:
        choice: list[Expression] = [A, B, A, B, number(2), term_literal(Literal("1.5", DECIMAL)), text("a")]
        return random.choice(choice)
    kind = random.random()
    if kind < 0.35:
        return (
            term_call(random.choice([name for name in UNARY if name != "BOUND"]), nested(random, depth - 1))
            if kind > 0.05
            else term_call("BOUND", A)
        )
    if kind < 0.9:
        return term_call(random.choice(BINARY), nested(random, depth - 1), nested(random, depth - 1))
    return term_call("IF", *tuple(nested(random, depth - 1) for _ in range(3)))
