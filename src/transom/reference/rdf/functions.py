"""Implementations of the SPARQL 1.1 functions; None is an error, which strict functions never receive."""

from __future__ import annotations

import hashlib
import random
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from urllib.parse import urljoin

from transom.model.rdf.compare import term_less_than, terms_equal
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
    LANG_STRING,
    TIME,
    YEAR_MONTH,
    BlankNode,
    Literal,
    Term,
    integer,
)
from transom.model.rdf.times import Instant, XsdDuration, zone_text
from transom.model.rdf.values import NumericKind, NumericValue, number_literal, value_of
from transom.reference.functions import IMPLEMENTATIONS
from transom.reference.rdf import numbers, regex, strings
from transom.reference.rdf.casts import cast, to_string

Computation = Callable[..., Term | bool | None]
_TAG = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*")
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")


def _different(first: Term, second: Term) -> bool | None:
    """SPARQL `!=`: whether two terms have different values; None, an error, if that cannot be decided."""
    equal = terms_equal(first, second)
    return None if equal is None else not equal


def _at_most(first: Term, second: Term) -> bool | None:
    """SPARQL `<=`: whether the first value is at most the second; None, an error, if they are not comparable."""
    smaller, equal = term_less_than(first, second), terms_equal(first, second)
    return None if smaller is None or equal is None else smaller or equal


def _in(term: Term | None, *options: Term | None) -> bool | None:
    """SPARQL IN: whether a term equals one of the options; None if no option is equal and a comparison is an error."""
    if term is None:
        return None
    equal = [None if option is None else terms_equal(term, option) for option in options]
    return True if True in equal else None if None in equal else False


def _str(term: Term) -> Term | None:
    """SPARQL STR: the text of an IRI or a literal as a string literal; None for a blank node."""
    match term:
        case IRI(value=value):
            return Literal(value)
        case Literal(lexical=lexical):
            return Literal(lexical)
        case _:
            return None


def _to_iri(term: Term, base: Term | None = None) -> Term | None:
    """SPARQL IRI: an IRI itself, or the one that a string denotes, relative to `base`; None if it is not an IRI."""
    if isinstance(term, IRI):
        return term
    text = strings.simple_string(term)
    if text is None:
        return None
    if isinstance(base, IRI):
        text = urljoin(base.value, text)
    return IRI(text) if _IRI.fullmatch(text) else None


def _typed_literal(term: Term, datatype: Term) -> Term | None:
    """SPARQL STRDT: a literal with the text of a plain string and a datatype IRI; None for other arguments."""
    text = strings.simple_string(term)
    if text is None or not isinstance(datatype, IRI) or datatype.value == LANG_STRING:
        return None
    return Literal(text, datatype.value)


def _language_literal(term: Term, tag: Term) -> Term | None:
    """SPARQL STRLANG: a literal with the text of a plain string and a language tag; None for other arguments."""
    text, language = strings.simple_string(term), strings.simple_string(tag)
    if text is None or language is None or not _TAG.fullmatch(language):
        return None
    return Literal(text, language=language)


def _instant(term: Term) -> Instant | None:
    """The value of an xsd:dateTime literal, for SPARQL's date functions; None for other terms."""
    value = value_of(term) if isinstance(term, Literal) else None
    return value if isinstance(value, Instant) and value.datatype == DATE_TIME else None


def _instant_field(name: str, term: Term) -> Term | None:
    """SPARQL YEAR, MONTH, DAY, HOURS, MINUTES: the field `name` of an xsd:dateTime; None for other terms."""
    instant = _instant(term)
    return integer(getattr(instant, name)) if instant is not None else None


def _seconds(term: Term) -> Term | None:
    """SPARQL SECONDS: the seconds of an xsd:dateTime as a decimal; None for other terms."""
    instant = _instant(term)
    return number_literal(NumericValue(NumericKind.DECIMAL, instant.second)) if instant is not None else None


def _zone(term: Term) -> Term | None:
    """SPARQL TIMEZONE: the time zone of an xsd:dateTime as a duration; None if it has none, and for other terms."""
    instant = _instant(term)
    if instant is None or instant.zone is None:
        return None
    return Literal(str(XsdDuration(DAY_TIME, 0, Decimal(instant.zone * 60))), DAY_TIME)


def _zone_text(term: Term) -> Term | None:
    """SPARQL TZ: the time zone of an xsd:dateTime as text, empty if it has none; None for other terms."""
    instant = _instant(term)
    return Literal(zone_text(instant.zone)) if instant is not None else None


def _digest(name: str, term: Term) -> Term | None:
    """SPARQL MD5, SHA1 and others: the hexadecimal digest of a string by hash function `name`; None for other terms."""
    text = strings.simple_string(term)
    return Literal(hashlib.new(name, text.encode()).hexdigest()) if text is not None else None


def _random() -> Term:
    """SPARQL RAND: a random xsd:double, at least 0 and less than 1."""
    return Literal(repr(random.random()), DOUBLE)  # noqa: S311 - it keeps no secret


TERM_IMPLEMENTATIONS: dict[str, Computation] = {
    "BOUND": lambda term: term is not None,
    "IF": lambda condition, then, otherwise: None if condition is None else then if condition else otherwise,
    "COALESCE": IMPLEMENTATIONS["COALESCE"],
    "IN": _in,
    "=": terms_equal,
    "!=": _different,
    "<": term_less_than,
    ">": lambda a, b: term_less_than(b, a),
    "<=": _at_most,
    ">=": lambda a, b: _at_most(b, a),
    "sameTerm": lambda a, b: a == b,
    "+": numbers.add,
    "-": numbers.subtract,
    "*": numbers.multiply,
    "/": numbers.divide,
    "unary +": numbers.unary_plus,
    "unary -": numbers.negate,
    "ABS": numbers.absolute_value,
    "ROUND": numbers.round_half_up,
    "CEIL": numbers.ceiling,
    "FLOOR": numbers.floor,
    "RAND": _random,
    "isIRI": lambda term: isinstance(term, IRI),
    "isURI": lambda term: isinstance(term, IRI),
    "isBLANK": lambda term: isinstance(term, BlankNode),
    "isLITERAL": lambda term: isinstance(term, Literal),
    "isNUMERIC": lambda term: numbers.numeric_value(term) is not None,
    "STR": _str,
    "LANG": lambda term: Literal(term.language) if isinstance(term, Literal) else None,
    "DATATYPE": lambda term: IRI(term.datatype) if isinstance(term, Literal) else None,
    "IRI": _to_iri,
    "URI": _to_iri,
    "UUID": lambda: IRI(f"urn:uuid:{uuid.uuid4()}"),
    "STRUUID": lambda: Literal(str(uuid.uuid4())),
    "STRDT": _typed_literal,
    "STRLANG": _language_literal,
    "STRLEN": strings.length,
    "SUBSTR": strings.substring,
    "UCASE": strings.upper,
    "LCASE": strings.lower,
    "STRSTARTS": strings.starts_with,
    "STRENDS": strings.ends_with,
    "CONTAINS": strings.contains,
    "STRBEFORE": strings.before,
    "STRAFTER": strings.after,
    "ENCODE_FOR_URI": strings.percent_encode,
    "CONCAT": strings.concat,
    "langMatches": strings.lang_matches,
    "REGEX": regex.regex,
    "REPLACE": regex.replace,
    "YEAR": partial(_instant_field, "year"),
    "MONTH": partial(_instant_field, "month"),
    "DAY": partial(_instant_field, "day"),
    "HOURS": partial(_instant_field, "hour"),
    "MINUTES": partial(_instant_field, "minute"),
    "SECONDS": _seconds,
    "TIMEZONE": _zone,
    "TZ": _zone_text,
    **{name: partial(_digest, name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
    "xsd:string": to_string,
    **{
        f"xsd:{datatype.rpartition('#')[2]}": partial(cast, datatype=datatype)
        for datatype in (
            BOOLEAN,
            INTEGER,
            DECIMAL,
            FLOAT,
            DOUBLE,
            DATE_TIME,
            DATE,
            TIME,
            DURATION,
            DAY_TIME,
            YEAR_MONTH,
        )
    },
}
"""Implementations by function name; NOW and BNODE are missing, as they depend on the solution."""
