"""The forms of SPARQL that look at their arguments themselves, and comparisons, on Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_, or_

from transom.model.rdf.spelling import encode
from transom.model.rdf.terms import BOOLEAN, Literal, Term
from transom.model.rdf.values import Number, Text, value_of
from transom.spark import term_compare, term_numbers
from transom.spark.sql import F, Sql, aside, let
from transom.spark.term_constants import against
from transom.spark.term_shapes import Shape, Shaped, bound, nothing, of_constant, truths
from transom.spark.term_spelling import TAGGED, end, is_literal, one_of
from transom.spark.term_values import parsed, words


def _is_number(given: Shaped) -> bool:
    """Whether a value is a number for certain, or an error."""
    return given.shape is Shape.NUMBER or isinstance(_said(given), Number)


def _is_characters(given: Shaped) -> bool:
    """Whether a value is a string without a language for certain, or an error."""
    own = _said(given)
    return given.shape is Shape.CHARACTERS or (isinstance(own, Text) and not own.language)


def _said(given: Shaped) -> object:
    return value_of(given.known) if isinstance(given.known, Literal) else None


def _spelled(given: Shaped) -> Sql:
    """The term where it is spelled already; else characters that no term has."""
    return given.column if given.shape is Shape.TERM else F.lit("")


def equal(one: Shaped, other: Shaped) -> Sql:
    """`=`."""
    if any(own.known is not None and not isinstance(own.known, Literal) for own in (one, other)):
        return one.term() == other.term()
    if _is_number(one) and _is_number(other):
        return let([one.number(), other.number()], term_numbers.same)
    if _is_characters(one) and _is_characters(other):
        return one.characters() == other.characters()
    if one.shape is Shape.TRUTH and other.shape is Shape.TRUTH:
        return one.column == other.column
    number = _against(one, "=", other)
    if number is not None:
        return let([number], lambda own: F.when(own.isNotNull(), own).otherwise(_values(one, other, _equal)))
    if _is_number(one) or _is_number(other):

        def quick(left: Sql, right: Sql) -> Sql:
            both = left.isNotNull() & right.isNotNull()
            return F.when(both, term_numbers.same(left, right)).otherwise(_values(one, other, _equal))

        return let([one.number(), other.number()], quick)
    for own, said in ((one, other), (other, one)):
        if own.shape is Shape.TERM and own.known is None and isinstance(_said(said), Text):
            return bound([own, said], lambda term, text: truths(_equals_text(term, text))).column
    if one.shape is Shape.TERM and other.shape is Shape.TERM:
        return bound([one, other], lambda left, right: truths(_equal_terms(left, right))).column
    return _values(one, other, _equal)


def certainly_equal(one: Shaped, other: Shaped) -> Sql:
    """`=` where an error counts as false: a term is compared with the spellings of a constant, and need not be read."""
    for own, said in ((one, other), (other, one)):
        if own.shape is Shape.TERM and own.known is None and said.known is not None:
            return _is_constant(own.column, said.known)
    return equal(one, other)


def _is_constant(term: Sql, constant: Term) -> Sql:
    spelled = encode(constant)
    match value_of(constant) if isinstance(constant, Literal) else None:
        case Number() as number:
            return against(term, "=", number)
        case Text(language=language):
            return term.isin(spelled) if language else term.isin(spelled, spelled + TAGGED)
        case bool() as truth:
            ended = end(term)
            return one_of(ended, [BOOLEAN]) & words(term, ended).isin(*(("true", "1") if truth else ("false", "0")))
        case None:
            return term == F.lit(spelled)
        case _:
            return equal(Shaped(Shape.TERM, term, short=True), of_constant(constant))


def _equals_text(one: Shaped, text: Shaped) -> Sql:
    """`=` of a term and a string that the query says: another string is another value."""
    ended = end(one.column)
    is_string = (ended == F.lit("")) | F.startswith(ended, F.lit("@"))
    return (
        F.when(one.column == text.column, F.lit(True))
        .when(~is_literal(one.column) | is_string, F.lit(False))
        .otherwise(_values(one, text, _equal))
    )


def _equal_terms(one: Shaped, other: Shaped) -> Sql:
    """`=` of two terms: what is no literal is equal to itself only."""
    return F.when(~is_literal(one.column) | ~is_literal(other.column), one.column == other.column).otherwise(
        _values(one, other, _equal)
    )


_TURNED = {"<": ">", "<=": ">=", "=": "="}


def _against(one: Shaped, sign: str, other: Shaped) -> Sql | None:
    """A comparison with a number that the query says, None where it is another one."""
    for own, said, turned in ((one, other, sign), (other, one, _TURNED[sign])):
        number = _said(said)
        if own.shape is Shape.TERM and own.known is None and isinstance(number, Number):
            return against(own.column, turned, number)
    return None


def _equal(one: Sql, other: Sql, left: Sql, right: Sql) -> Sql:
    return term_compare.equal(one, other, left, right)


def _values(one: Shaped, other: Shaped, body: Callable[[Sql, Sql, Sql, Sql], Sql]) -> Sql:
    """What `body` says of two terms and their values; NULL where one of them is an error."""

    def read(left: Sql, right: Sql) -> Sql:
        first, second = _like(one, left), _like(other, right)

        def said(a: Sql, b: Sql) -> Sql:
            return body(_spelled(first), _spelled(second), a, b)

        if all(own.shape is Shape.TERM and own.known is None for own in (one, other)):
            # reading a term is a large expression, of which one does for both
            values = F.transform(F.array(left, right), parsed)
            both = let([values], lambda own: let([F.get(own, 0), F.get(own, 1)], said))
        else:
            both = let([first.value(), second.value()], said)
        return F.when(left.isNotNull() & right.isNotNull(), both)

    return aside([one.column, other.column], read)


def _like(given: Shaped, column: Sql) -> Shaped:
    return Shaped(given.shape, column, given.known, short=True)


def _unordered(given: Shaped) -> bool:
    """Whether a constant has no order with anything."""
    own = _said(given)
    return given.known is not None and (own is None or (isinstance(own, Text) and own.language != ""))


def less(one: Shaped, other: Shaped) -> Sql:
    """`<`."""
    if _unordered(one) or _unordered(other):
        return F.lit(None).cast("boolean")
    number = _against(one, "<", other)
    if number is not None:
        return number
    if _is_number(one) or _is_number(other):
        return let([one.number(), other.number()], term_numbers.less)
    if _is_characters(one) or _is_characters(other):
        return one.characters() < other.characters()
    return _values(one, other, lambda _, __, left, right: term_compare.less(left, right))


def at_most(one: Shaped, other: Shaped) -> Sql:
    """`<=`."""
    if _unordered(one) or _unordered(other):
        return F.lit(None).cast("boolean")
    number = _against(one, "<=", other)
    if number is not None:
        return number
    if _is_number(one) or _is_number(other):
        return let([one.number(), other.number()], term_numbers.at_most)
    if _is_characters(one) or _is_characters(other):
        return one.characters() <= other.characters()
    return _values(one, other, _at_most)


def _at_most(one: Sql, other: Sql, left: Sql, right: Sql) -> Sql:
    return let(
        [term_compare.less(left, right), _equal(one, other, left, right)],
        lambda smaller, same: F.when(smaller.isNotNull() & same.isNotNull(), smaller | same),
    )


def among(one: Shaped, *others: Shaped, same: Callable[[Shaped, Shaped], Sql] = equal) -> Shaped:
    """`IN`: an error where one comparison is and none is true."""
    if not others:
        return truths(F.when(one.column.isNotNull(), F.lit(False)))
    return bound([one, *others], lambda own, *rest: truths(reduce(or_, (same(own, other) for other in rest))))


def _alike(given: tuple[Shaped, ...]) -> tuple[Shape, list[Sql]]:
    """Values in one shape: their own if they share it, else as terms."""
    shapes = {own.shape for own in given}
    if len(shapes) == 1:
        return shapes.pop(), [own.column for own in given]
    return Shape.TERM, [own.term() for own in given]


def _if(condition: Shaped, then: Shaped, otherwise: Shaped) -> Shaped:
    shape, (first, second) = _alike((then, otherwise))
    return Shaped(shape, let([condition.truth()], lambda own: F.when(own, first).when(~own, second)))


def _coalesce(*given: Shaped) -> Shaped:
    if not given:
        return nothing()
    shape, columns = _alike(given)
    return Shaped(shape, F.coalesce(*columns))


FORMS: dict[str, Callable[..., Shaped]] = {
    "BOUND": lambda one: truths(one.column.isNotNull()),
    "IF": _if,
    "COALESCE": _coalesce,
    "OR": lambda *given: truths(reduce(or_, (own.truth() for own in given))),
    "AND": lambda *given: truths(reduce(and_, (own.truth() for own in given))),
    "NOT": lambda one: truths(~one.truth()),
    "IN": among,
}
"""By their names: what names each argument once, or binds them itself."""

CONDITIONS: dict[str, Callable[..., Shaped]] = {
    "=": lambda one, other: bound([one, other], lambda left, right: truths(certainly_equal(left, right))),
    "IN": lambda one, *others: among(one, *others, same=certainly_equal),
}
"""Those that are smaller where an error counts as false."""
