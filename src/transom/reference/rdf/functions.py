"""What the functions of SPARQL 1.1 compute from terms; None is an error, which strict functions are never given."""

from __future__ import annotations

import hashlib
import random
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from urllib.parse import urljoin

from transom.model.rdf.compare import equal, less
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
from transom.model.rdf.times import Instant, Span, zone_text
from transom.model.rdf.values import Kind, Number, number_literal, value_of
from transom.reference.functions import IMPLEMENTATIONS
from transom.reference.rdf import numbers, regular, strings
from transom.reference.rdf.casts import cast, to_string

Computation = Callable[..., Term | bool | None]
_TAG = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")


def _different(one: Term, other: Term) -> bool | None:
    found = equal(one, other)
    return None if found is None else not found


def _at_most(one: Term, other: Term) -> bool | None:
    smaller, same = less(one, other), equal(one, other)
    return None if smaller is None or same is None else smaller or same


def _in(one: Term | None, *others: Term | None) -> bool | None:
    """Whether the first equals one of the others; an error where one comparison is and none is true."""
    if one is None:
        return None
    same = [None if other is None else equal(one, other) for other in others]
    return True if True in same else None if None in same else False


def _characters(term: Term) -> Term | None:
    match term:
        case IRI(value=value):
            return Literal(value)
        case Literal(lexical=lexical):
            return Literal(lexical)
        case _:
            return None


def _name(term: Term, base: Term | None = None) -> Term | None:
    if isinstance(term, IRI):
        return term
    spelled = strings.simple(term)
    if spelled is None:
        return None
    if isinstance(base, IRI):
        spelled = urljoin(base.value, spelled)
    return IRI(spelled) if _NAME.fullmatch(spelled) else None


def _typed(term: Term, datatype: Term) -> Term | None:
    characters = strings.simple(term)
    if characters is None or not isinstance(datatype, IRI) or datatype.value == LANG_STRING:
        return None
    return Literal(characters, datatype.value)


def _in_language(term: Term, tag: Term) -> Term | None:
    characters, language = strings.simple(term), strings.simple(tag)
    if characters is None or language is None or not _TAG.fullmatch(language):
        return None
    return Literal(characters, language=language)


def _instant(term: Term) -> Instant | None:
    value = value_of(term) if isinstance(term, Literal) else None
    return value if isinstance(value, Instant) and value.datatype == DATE_TIME else None


def _part(name: str, term: Term) -> Term | None:
    found = _instant(term)
    return integer(getattr(found, name)) if found is not None else None


def _seconds(term: Term) -> Term | None:
    found = _instant(term)
    return number_literal(Number(Kind.DECIMAL, found.second)) if found is not None else None


def _zone(term: Term) -> Term | None:
    found = _instant(term)
    if found is None or found.zone is None:
        return None
    return Literal(str(Span(DAY_TIME, 0, Decimal(found.zone * 60))), DAY_TIME)


def _zone_text(term: Term) -> Term | None:
    found = _instant(term)
    return Literal(zone_text(found.zone)) if found is not None else None


def _digest(name: str, term: Term) -> Term | None:
    characters = strings.simple(term)
    return Literal(hashlib.new(name, characters.encode()).hexdigest()) if characters is not None else None


def _random() -> Term:
    return Literal(repr(random.random()), DOUBLE)  # noqa: S311 - it keeps no secret


TERM_IMPLEMENTATIONS: dict[str, Computation] = {
    "BOUND": lambda term: term is not None,
    "IF": lambda chosen, one, other: None if chosen is None else one if chosen else other,
    "COALESCE": IMPLEMENTATIONS["COALESCE"],
    "IN": _in,
    "=": equal,
    "!=": _different,
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": _at_most,
    ">=": lambda a, b: _at_most(b, a),
    "sameTerm": lambda a, b: a == b,
    "+": numbers.add,
    "-": numbers.subtract,
    "*": numbers.multiply,
    "/": numbers.divide,
    "unary +": numbers.plus,
    "unary -": numbers.negated,
    "ABS": numbers.absolute,
    "ROUND": numbers.rounded,
    "CEIL": numbers.ceiling,
    "FLOOR": numbers.floor,
    "RAND": _random,
    "isIRI": lambda term: isinstance(term, IRI),
    "isURI": lambda term: isinstance(term, IRI),
    "isBLANK": lambda term: isinstance(term, BlankNode),
    "isLITERAL": lambda term: isinstance(term, Literal),
    "isNUMERIC": lambda term: numbers.number(term) is not None,
    "STR": _characters,
    "LANG": lambda term: Literal(term.language) if isinstance(term, Literal) else None,
    "DATATYPE": lambda term: IRI(term.datatype) if isinstance(term, Literal) else None,
    "IRI": _name,
    "URI": _name,
    "UUID": lambda: IRI(f"urn:uuid:{uuid.uuid4()}"),
    "STRUUID": lambda: Literal(str(uuid.uuid4())),
    "STRDT": _typed,
    "STRLANG": _in_language,
    "STRLEN": strings.length,
    "SUBSTR": strings.part,
    "UCASE": strings.upper,
    "LCASE": strings.lower,
    "STRSTARTS": strings.starts,
    "STRENDS": strings.ends,
    "CONTAINS": strings.contains,
    "STRBEFORE": strings.before,
    "STRAFTER": strings.after,
    "ENCODE_FOR_URI": strings.encoded,
    "CONCAT": strings.concatenated,
    "langMatches": strings.lang_matches,
    "REGEX": regular.regex,
    "REPLACE": regular.replace,
    "YEAR": partial(_part, "year"),
    "MONTH": partial(_part, "month"),
    "DAY": partial(_part, "day"),
    "HOURS": partial(_part, "hour"),
    "MINUTES": partial(_part, "minute"),
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
"""By the name of the function; NOW and BNODE are not here, as they depend on the solution."""
