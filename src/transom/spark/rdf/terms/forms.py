"""SPARQL's functional forms (IF, COALESCE, IN, AND, ...) and comparisons on Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_, or_

from transom.model.rdf.ntriples import encode_term
from transom.model.rdf.terms import BOOLEAN, Literal, Term
from transom.model.rdf.values import NumericValue, StringValue, value_of
from transom.spark.expressions.sql import F, Sql, let, let_interpreted
from transom.spark.rdf.terms import arithmetic, compare
from transom.spark.rdf.terms.constants import compare_with_constant
from transom.spark.rdf.terms.shapes import ShapedTerm, TermShape, bind_once, constant_term, no_term, truth_term
from transom.spark.rdf.terms.spelling import LANG_STRING_SUFFIX, TermText, has_datatype, is_literal, literal_suffix
from transom.spark.rdf.terms.values import NumberStruct, ValueStruct, term_value, trimmed_lexical


def _is_number(operand: ShapedTerm) -> bool:
    """Whether an operand is known, before execution, to be a number or an error (NULL)."""
    return operand.shape is TermShape.NUMBER or isinstance(_constant_value(operand), NumericValue)


def _is_characters(operand: ShapedTerm) -> bool:
    """Whether an operand is known, before execution, to be a string without language tag or an error (NULL)."""
    value = _constant_value(operand)
    return operand.shape is TermShape.CHARACTERS or (isinstance(value, StringValue) and not value.language)


def _constant_value(operand: ShapedTerm) -> object:
    """The Python value of an operand that is a constant literal; None for all other operands."""
    return value_of(operand.constant) if isinstance(operand.constant, Literal) else None


def _term_or_empty(operand: ShapedTerm) -> TermText:
    """The N-Triples text of an operand that is held as a term; for others the empty string, which is no term."""
    return operand.column if operand.shape is TermShape.TERM else F.lit("")


def equal(left: ShapedTerm, right: ShapedTerm) -> Sql:
    """Compare two operands by SPARQL `=`, in the cheapest way that their SQL representation allows; NULL on error."""
    if any(operand.constant is not None and not isinstance(operand.constant, Literal) for operand in (left, right)):
        return left.term() == right.term()
    if _is_number(left) and _is_number(right):
        return let([left.number(), right.number()], arithmetic.equal)
    if _is_characters(left) and _is_characters(right):
        return left.characters() == right.characters()
    if left.shape is TermShape.TRUTH and right.shape is TermShape.TRUTH:
        return left.column == right.column
    number = _compare_with_number(left, "=", right)
    if number is not None:
        return let(
            [number], lambda result: F.when(result.isNotNull(), result).otherwise(_on_values(left, right, _equal))
        )
    if _is_number(left) or _is_number(right):

        def quick(left_number: NumberStruct, right_number: NumberStruct) -> Sql:
            """Whether two operands are equal: as numbers if both are numbers, otherwise as values of any class."""
            both = left_number.isNotNull() & right_number.isNotNull()
            return F.when(both, arithmetic.equal(left_number, right_number)).otherwise(_on_values(left, right, _equal))

        return let([left.number(), right.number()], quick)
    for operand, constant in ((left, right), (right, left)):
        if (
            operand.shape is TermShape.TERM
            and operand.constant is None
            and isinstance(_constant_value(constant), StringValue)
        ):
            return bind_once([operand, constant], lambda term, text: truth_term(_equals_text(term, text))).column
    if left.shape is TermShape.TERM and right.shape is TermShape.TERM:
        return bind_once([left, right], lambda first, second: truth_term(_equal_terms(first, second))).column
    return _on_values(left, right, _equal)


def equal_or_false(left: ShapedTerm, right: ShapedTerm) -> Sql:
    """Compare two operands by SPARQL `=` where an error counts as false, as in conditions.

    A term is compared with a constant without being parsed.
    """
    for variable, constant in ((left, right), (right, left)):
        if variable.shape is TermShape.TERM and variable.constant is None and constant.constant is not None:
            return _is_constant(variable.column, constant.constant)
    return equal(left, right)


def _is_constant(term: TermText, constant: Term) -> Sql:
    """Whether a term equals a constant, by comparing N-Triples texts if possible; an error counts as false."""
    spelled = encode_term(constant)
    match value_of(constant) if isinstance(constant, Literal) else None:
        case NumericValue() as number:
            return compare_with_constant(term, "=", number)
        case StringValue(language=language):
            return term.isin(spelled) if language else term.isin(spelled, spelled + LANG_STRING_SUFFIX)
        case bool() as truth:
            suffix = literal_suffix(term)
            return has_datatype(suffix, [BOOLEAN]) & trimmed_lexical(term, suffix).isin(
                *(("true", "1") if truth else ("false", "0"))
            )
        case None:
            return term == F.lit(spelled)
        case _:
            return equal(ShapedTerm(TermShape.TERM, term, is_short=True), constant_term(constant))


def _equals_text(operand: ShapedTerm, text: ShapedTerm) -> Sql:
    """Compare a term with a constant string by SPARQL `=`: strings by their text, other literals by their value."""
    suffix = literal_suffix(operand.column)
    is_string = (suffix == F.lit("")) | F.startswith(suffix, F.lit("@"))
    return (
        F.when(operand.column == text.column, F.lit(True))
        .when(~is_literal(operand.column) | is_string, F.lit(False))
        .otherwise(_on_values(operand, text, _equal))
    )


def _equal_terms(left: ShapedTerm, right: ShapedTerm) -> Sql:
    """Compare two operands that are held as terms by SPARQL `=`: IRIs and blank nodes by text, literals by value."""
    return F.when(~is_literal(left.column) | ~is_literal(right.column), left.column == right.column).otherwise(
        _on_values(left, right, _equal)
    )


_MIRRORED = {"<": ">", "<=": ">=", "=": "="}


def _compare_with_number(left: ShapedTerm, comparison: str, right: ShapedTerm) -> Sql | None:
    """Apply `comparison`, such as `<`, to a variable term and a constant number; None for other pairs of operands."""
    for variable, constant, oriented in ((left, right, comparison), (right, left, _MIRRORED[comparison])):
        number = _constant_value(constant)
        if variable.shape is TermShape.TERM and variable.constant is None and isinstance(number, NumericValue):
            return compare_with_constant(variable.column, oriented, number)
    return None


def _equal(left_term: TermText, right_term: TermText, left: ValueStruct, right: ValueStruct) -> Sql:
    """Compare two terms by SPARQL `=`, from their N-Triples texts and their parsed values; NULL on error."""
    return compare.equal(left_term, right_term, left, right)


def _on_values(left_operand: ShapedTerm, right_operand: ShapedTerm, body: Callable[[Sql, Sql, Sql, Sql], Sql]) -> Sql:
    """Apply `body` to the N-Triples texts and the parsed values of two operands; NULL if one of them is NULL."""

    def read(left_column: Sql, right_column: Sql) -> Sql:
        """Parse both operands and pass texts and values to the enclosing `body`; NULL if an operand is NULL."""
        first, second = _with_column(left_operand, left_column), _with_column(right_operand, right_column)

        def on_parsed(left_value: ValueStruct, right_value: ValueStruct) -> Sql:
            """Call the `body` of `_on_values` with both operands' N-Triples texts and both parsed values."""
            return body(_term_or_empty(first), _term_or_empty(second), left_value, right_value)

        if all(
            operand.shape is TermShape.TERM and operand.constant is None for operand in (left_operand, right_operand)
        ):
            # parsing a term is a large expression; one copy serves both
            values = F.transform(F.array(left_column, right_column), term_value)
            both = let([values], lambda parsed: let([F.get(parsed, 0), F.get(parsed, 1)], on_parsed))
        else:
            both = let([first.value(), second.value()], on_parsed)
        return F.when(left_column.isNotNull() & right_column.isNotNull(), both)

    return let_interpreted([left_operand.column, right_operand.column], read)


def _with_column(operand: ShapedTerm, column: Sql) -> ShapedTerm:
    """Return the same operand, with a lambda variable in place of its SQL expression."""
    return ShapedTerm(operand.shape, column, operand.constant, is_short=True)


def _is_unordered(operand: ShapedTerm) -> bool:
    """Whether an operand is a constant for which `<` is always an error, such as an IRI."""
    value = _constant_value(operand)
    return operand.constant is not None and (value is None or (isinstance(value, StringValue) and value.language != ""))


def less(left: ShapedTerm, right: ShapedTerm) -> Sql:
    """Compare two operands by SPARQL `<`, in the cheapest way that their SQL representation allows; NULL on error."""
    if _is_unordered(left) or _is_unordered(right):
        return F.lit(None).cast("boolean")
    number = _compare_with_number(left, "<", right)
    if number is not None:
        return number
    if _is_number(left) or _is_number(right):
        return let([left.number(), right.number()], arithmetic.less)
    if _is_characters(left) or _is_characters(right):
        return left.characters() < right.characters()
    return _on_values(left, right, lambda _, __, left_value, right_value: compare.less(left_value, right_value))


def less_or_equal(left: ShapedTerm, right: ShapedTerm) -> Sql:
    """Compare two operands by SPARQL `<=`, in the cheapest way that their SQL representation allows; NULL on error."""
    if _is_unordered(left) or _is_unordered(right):
        return F.lit(None).cast("boolean")
    number = _compare_with_number(left, "<=", right)
    if number is not None:
        return number
    if _is_number(left) or _is_number(right):
        return let([left.number(), right.number()], arithmetic.less_or_equal)
    if _is_characters(left) or _is_characters(right):
        return left.characters() <= right.characters()
    return _on_values(left, right, _less_or_equal_values)


def _less_or_equal_values(left_term: TermText, right_term: TermText, left: ValueStruct, right: ValueStruct) -> Sql:
    """Compare two terms by SPARQL `<=`, from their N-Triples texts and their parsed values; NULL on error."""
    return let(
        [compare.less(left, right), _equal(left_term, right_term, left, right)],
        lambda smaller, same: F.when(smaller.isNotNull() & same.isNotNull(), smaller | same),
    )


def in_list(
    operand: ShapedTerm, *members: ShapedTerm, same: Callable[[ShapedTerm, ShapedTerm], Sql] = equal
) -> ShapedTerm:
    """Compute SPARQL `IN`: NULL if no member is equal and a comparison is an error; `same` compares two operands."""
    if not members:
        return truth_term(F.when(operand.column.isNotNull(), F.lit(False)))
    return bind_once(
        [operand, *members], lambda bound, *rest: truth_term(reduce(or_, (same(bound, member) for member in rest)))
    )


def _unify_shapes(operands: tuple[ShapedTerm, ...]) -> tuple[TermShape, list[Sql]]:
    """Return the operands' SQL expressions in one representation: the common one, otherwise terms as N-Triples text."""
    shapes = {operand.shape for operand in operands}
    if len(shapes) == 1:
        return shapes.pop(), [operand.column for operand in operands]
    return TermShape.TERM, [operand.term() for operand in operands]


def _if(condition: ShapedTerm, then: ShapedTerm, otherwise: ShapedTerm) -> ShapedTerm:
    """Compute SPARQL `IF`; NULL (an error) if the condition has no boolean value."""
    shape, (first, second) = _unify_shapes((then, otherwise))
    return ShapedTerm(shape, let([condition.truth()], lambda truth: F.when(truth, first).when(~truth, second)))


def _coalesce(*operands: ShapedTerm) -> ShapedTerm:
    """Compute SPARQL `COALESCE`: the first operand that is neither unbound nor an error (NULL); NULL without one."""
    if not operands:
        return no_term()
    shape, columns = _unify_shapes(operands)
    return ShapedTerm(shape, F.coalesce(*columns))


FORMS: dict[str, Callable[..., ShapedTerm]] = {
    "BOUND": lambda operand: truth_term(operand.column.isNotNull()),
    "IF": _if,
    "COALESCE": _coalesce,
    "OR": lambda *operands: truth_term(reduce(or_, (operand.truth() for operand in operands))),
    "AND": lambda *operands: truth_term(reduce(and_, (operand.truth() for operand in operands))),
    "NOT": lambda operand: truth_term(~operand.truth()),
    "IN": in_list,
}
"""Functional forms by name. They use each argument once, or bind it themselves."""

CONDITIONS: dict[str, Callable[..., ShapedTerm]] = {
    "=": lambda left, right: bind_once([left, right], lambda first, second: truth_term(equal_or_false(first, second))),
    "IN": lambda operand, *members: in_list(operand, *members, same=equal_or_false),
}
"""Forms with a smaller expression where an error counts as false, as in conditions."""
